// How a world makes calls that exchange rows.
#include "world/rows.h"

#include <algorithm>

#include "world/arguments.h"

namespace sparkgap {
namespace {

constexpr uint64_t kRegionBytes = 256;     // what regions of the buffer are aligned to
constexpr uint64_t kFloat8Alignment = 16;  // of rows that become float8
constexpr uint64_t kMostRows = INT32_MAX;
constexpr uint64_t kMostRowBytes = INT32_MAX;  // kernels count a row's pieces in 32 bits
constexpr uint64_t kMostEntries = 1 << 27;     // so that those of all PEs of a GPU world can be counted in 32 bits
constexpr uint64_t kMostBytes = static_cast<uint64_t>(INT64_MAX) / 4;

void check_between(int64_t value, int64_t least, int64_t most, const char* name) {
  if (value >= least && value <= most) return;
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%s of the shape is %lld, and can be %lld to %lld", name,
       static_cast<long long>(value), static_cast<long long>(least), static_cast<long long>(most));
}

// The product, refused if it is more than `most`.
uint64_t product(uint64_t a, uint64_t b, uint64_t most, const char* what) {
  uint64_t result;
  if (__builtin_mul_overflow(a, b, &result) || result > most) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%s of the shape, %llu times %llu, are more than %llu", what,
         static_cast<unsigned long long>(a), static_cast<unsigned long long>(b), static_cast<unsigned long long>(most));
  }
  return result;
}

void check_summed(const World& world, int32_t type) {
  const bool on_gpu = world.memory_is_device();
  if (type == SPARKGAP_FLOAT32 || (on_gpu && type == SPARKGAP_BFLOAT16)) return;
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "rows for experts are float32%s, not %s, which exchangeRows alone takes",
       on_gpu ? " or bfloat16" : "", type_name(type));
}

void check_float8(const World& world, const RowsPlan& plan) {
  if (!plan.float8) return;
  if (!world.memory_is_device() || !plan.to_experts) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "rows travel as float8 on GPUs and to experts alone: give 0 for float8");
  }
  if (plan.width % SPARKGAP_FLOAT8_GROUP != 0) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "width of the shape is %llu, and of float8 rows it is a multiple of %d",
         static_cast<unsigned long long>(plan.width), SPARKGAP_FLOAT8_GROUP);
  }
}

class Regions {
 public:
  // Where the next one begins.
  uint64_t add(uint64_t bytes) {
    const uint64_t at = end_;
    end_ += (bytes + kRegionBytes - 1) / kRegionBytes * kRegionBytes;
    return at;
  }
  uint64_t end() const { return end_; }

 private:
  uint64_t end_ = 0;
};

// Memory of the caller's, apart from the buffer that rows go through.
void check_apart(const void* memory, uint64_t bytes, uint64_t element, const void* own, uint64_t own_bytes,
                 const char* name) {
  if (bytes == 0) return;
  check_pointer(memory, name);
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  if (begin % element != 0) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%s (%p) is not aligned to %llu bytes", name, memory,
         static_cast<unsigned long long>(element));
  }
  if (begin > UINTPTR_MAX - bytes) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%s reaches past the end of memory", name);
  if (overlap({memory, bytes}, {own, own_bytes})) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe,
         "%s lies in the buffer that rows are exchanged through, where other PEs write: pass memory of its own", name);
  }
}

// A row's sum is begun before its weights have been read.
void check_weights_apart(const Range& out, const Range& weights) {
  if (!overlap(out, weights)) return;
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "out and weights overlap: pass memory of its own for either");
}

void check_shape_fits(int32_t operation, const RowsPlan& plan) {
  const bool to_pes = operation == SPARKGAP_EXCHANGE_ROWS;
  if (to_pes && plan.to_experts) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe,
         "exchangeRows sends rows to PEs, and the shape has experts: make one with experts 0, or dispatch");
  }
  if (!to_pes && !plan.to_experts) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "the shape has no experts: make one that has, or use exchangeRows");
  }
}

[[noreturn]] void refuse_other_rows(const RowsCall& call, uint64_t dispatched) {
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%llu rows are to be combined, and the last dispatch had %llu",
       static_cast<unsigned long long>(call.rows), static_cast<unsigned long long>(dispatched));
}

// Of a dispatch and of its combine the same, and never 0.
uint64_t digest_of_shape(const RowsCall& call) {
  CallSignature signature = signature_of(call);
  signature.operation = SPARKGAP_DISPATCH;
  return mix(signature) | 1;
}

}  // namespace

RowsPlan plan_rows(const World& world, const sparkgap_rows_shape* shape) {
  check_pointer(shape, "shape");
  check_type(shape->type);
  RowsPlan plan = {};
  plan.type = shape->type;
  plan.pes = world.pes();
  plan.to_experts = shape->experts != 0;
  if (plan.to_experts) {
    check_between(shape->experts, 0, SPARKGAP_MOST_EXPERTS, "experts");
    check_between(shape->top, 1, std::min(shape->experts, SPARKGAP_MOST_TOP), "top");
    check_summed(world, shape->type);
  } else {
    check_between(shape->top, 0, 0, "top");
  }
  plan.experts = plan.to_experts ? shape->experts : plan.pes;
  plan.top = plan.to_experts ? shape->top : 1;
  plan.width = shape->width;
  plan.rows = shape->rows;
  plan.capacity = shape->capacity;
  if (plan.width == 0) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "width of the shape is 0: a row has elements");
  plan.float8 = shape->float8 != 0;
  check_float8(world, plan);
  plan.row_bytes = product(plan.width, element_bytes(plan.type), kMostRowBytes, "bytes of a row");
  const uint64_t entries = product(plan.rows, static_cast<uint64_t>(plan.top), kMostEntries, "rows and top");
  const auto local = static_cast<uint64_t>(plan.most_local_experts());
  const uint64_t taken = product(local, plan.capacity, kMostRows, "experts of a PE and capacity");
  plan.received_bytes = plan.float8 ? plan.width : plan.row_bytes;
  const uint64_t row_bytes = product(taken, plan.row_bytes, kMostBytes, "received rows and their bytes");
  product(plan.rows, plan.row_bytes, kMostBytes, "rows and their bytes");
  Regions regions;
  regions.add(sizeof(RowsHead));
  plan.counts_at = regions.add(local * sizeof(int32_t));
  plan.places_at = regions.add(plan.to_experts ? entries * sizeof(RowPlace) : 0);
  plan.weights_at = regions.add(plan.to_experts ? taken * sizeof(float) : 0);
  plan.scales_at = regions.add(plan.float8 ? taken * plan.width / SPARKGAP_FLOAT8_GROUP * sizeof(float) : 0);
  plan.received_at = regions.add(taken * plan.received_bytes);
  plan.results_at = regions.add(plan.to_experts ? row_bytes : 0);
  plan.bytes = regions.end();
  return plan;
}

RowsCall checked_rows_call(const World& world, int32_t operation, Buffer* buffer, const sparkgap_rows_shape* shape,
                           const void* in, const int32_t* indices, const float* weights, void* out, uint64_t rows) {
  RowsCall call = {};
  call.operation = operation;
  call.plan = plan_rows(world, shape);
  check_shape_fits(operation, call.plan);
  check_in_buffer(world, buffer, 0, call.plan.bytes, "buffer");
  if (rows > call.plan.rows) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "there are %llu rows, and the shape's `rows` is %llu: make it with more",
         static_cast<unsigned long long>(rows), static_cast<unsigned long long>(call.plan.rows));
  }
  call.buffer = buffer->number;
  call.shape_of_rows = &buffer->shape_of_rows;
  call.memory = buffer->memory.get();
  call.in = in;
  call.out = out;
  call.indices = indices;
  call.weights = weights;
  call.rows = rows;
  const bool gives = operation != SPARKGAP_COMBINE;
  const uint64_t entries = rows * static_cast<uint64_t>(call.plan.top);
  const uint64_t row_bytes = rows * call.plan.row_bytes;
  const uint64_t element = element_bytes(call.plan.type);
  const uint8_t* own = call.memory->part(world.pe());
  check_apart(in, gives ? row_bytes : 0, call.plan.float8 ? kFloat8Alignment : element, own, buffer->bytes, "in");
  check_apart(out, gives ? 0 : row_bytes, element, own, buffer->bytes, "out");
  check_apart(indices, gives ? entries * sizeof(int32_t) : 0, sizeof(int32_t), own, buffer->bytes,
              operation == SPARKGAP_DISPATCH ? "indices" : "destinations");
  const uint64_t weights_bytes = weights == nullptr ? 0 : entries * sizeof(float);
  check_apart(weights, weights_bytes, sizeof(float), own, buffer->bytes, "weights");
  check_weights_apart({out, gives ? 0 : row_bytes}, {weights, weights_bytes});
  return call;
}

void check_contents(const RowsCall& call, const uint8_t* own) {
  const RowsPlan& plan = call.plan;
  if (call.operation == SPARKGAP_COMBINE) {
    const uint64_t dispatched = reinterpret_cast<const RowsHead*>(own)->dispatched;
    if (call.rows == dispatched) return;
    refuse_other_rows(call, dispatched);
  }
  const auto top = static_cast<uint64_t>(plan.top);
  for (uint64_t i = 0; i < call.rows * top; ++i) {
    const int32_t index = call.indices[i];
    if (index >= -1 && index < plan.experts) continue;
    const auto row = static_cast<unsigned long long>(i / top);
    if (plan.to_experts) {
      fail(SPARKGAP_INVALID_ARGUMENT, kNoPe,
           "indices sends row %llu to expert %d by entry %llu of its %d, and experts are 0 to %d (-1: none)", row,
           index, static_cast<unsigned long long>(i % top), plan.top, plan.experts - 1);
    }
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "destinations sends row %llu to PE %d, and PEs are 0 to %d (-1: none)", row,
         index, plan.pes - 1);
  }
}

void check_last_rows(const RowsCall& call) {
  if (call.operation != SPARKGAP_COMBINE) return;
  const uint64_t last = *call.shape_of_rows;
  if (last == 0 ? call.rows == 0 : last == digest_of_shape(call)) return;
  if (last == 0) refuse_other_rows(call, 0);
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe,
       "the last rows came through buffer #%u with another shape, and lie where that says: combine with the shape of "
       "the dispatch, before another goes through the buffer",
       call.buffer);
}

void keep_last_rows(const RowsCall& call) {
  if (call.operation != SPARKGAP_COMBINE) *call.shape_of_rows = digest_of_shape(call);
}

void forget_last_rows(const RowsCall& call) { *call.shape_of_rows = 0; }

void World::rows(const RowsCall& call) {
  if (recording_ != nullptr) return record(call);
  make(call);
}

void World::make(const RowsCall& call) {
  check_last_rows(call);
  if (!engine_->memory_is_device()) check_contents(call, call.memory->part(options_.pe));
  const Counting counting = count(call.operation, counted_bytes(call));
  const Span span(*this, signature_of(call));
  engine_->rows(call);
  keep_last_rows(call);
}

}  // namespace sparkgap
