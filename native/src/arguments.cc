#include "arguments.h"

#include <algorithm>
#include <cstring>

#include "protocol/call.h"
#include "reduce/reduce.h"

namespace sparkgap {
namespace {

constexpr uint64_t kMostBytes = static_cast<uint64_t>(INT64_MAX);

uintptr_t begin_of(const Range& range) { return reinterpret_cast<uintptr_t>(range.address); }
uintptr_t end_of(const Range& range) { return begin_of(range) + range.bytes; }

bool overlap(const Range& a, const Range& b) {
  return a.bytes > 0 && b.bytes > 0 && begin_of(a) < end_of(b) && begin_of(b) < end_of(a);
}

[[noreturn]] void refuse_overlap() {
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe,
       "in and out overlap without being in place (see sparkgap.h for what in place means for each operation)");
}

struct Blocks {
  const void* base;
  const uint64_t* counts;
  const uint64_t* offsets;
  uint64_t element_bytes;

  Range operator[](int32_t pe) const {
    return {static_cast<const uint8_t*>(base) + offsets[pe] * element_bytes, counts[pe] * element_bytes};
  }
};

// The smallest range that holds all blocks; throws if one is out of any memory.
Range check_extent(const Blocks& blocks, int32_t pes, const char* name) {
  uint64_t first = UINT64_MAX;
  uint64_t last = 0;
  for (int32_t pe = 0; pe < pes; ++pe) {
    if (blocks.counts[pe] == 0) continue;
    uint64_t end;
    if (__builtin_add_overflow(blocks.counts[pe], blocks.offsets[pe], &end) ||
        end > kMostBytes / blocks.element_bytes) {
      fail(SPARKGAP_INVALID_ARGUMENT, kNoPe,
           "%s block of PE %d: %llu elements at offset %llu are more than memory holds", name, pe,
           static_cast<unsigned long long>(blocks.counts[pe]), static_cast<unsigned long long>(blocks.offsets[pe]));
    }
    first = std::min(first, blocks.offsets[pe]);
    last = std::max(last, end);
  }
  if (last == 0) return {blocks.base, 0};
  if (blocks.base == nullptr) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%s is null but has elements", name);
  return {static_cast<const uint8_t*>(blocks.base) + first * blocks.element_bytes,
          (last - first) * blocks.element_bytes};
}

}  // namespace

void check_pointer(const void* pointer, const char* name) {
  if (pointer == nullptr) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%s is null", name);
}

void check_provider(const char* name) {
  constexpr const char* kProviders = "this library has: host, nvshmem, nccl";
  if (name == nullptr) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "provider is missing; %s", kProviders);
  for (const char* known : {"host", "nvshmem", "nccl"}) {
    if (std::strcmp(name, known) == 0) return;
  }
  fail(SPARKGAP_UNAVAILABLE, kNoPe, "there is no provider \"%s\"; %s", name, kProviders);
}

void check_type(int32_t type) {
  if (type < 0 || type >= SPARKGAP_TYPES) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "there is no data type %d", type);
}

void check_op(int32_t op) {
  if (op < 0 || op >= SPARKGAP_OPS) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "there is no reduction %d", op);
}

void check_collective(int32_t collective) {
  if (collective < 0 || collective >= SPARKGAP_COLLECTIVES) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "there is no collective %d", collective);
  }
}

void check_signal_op(int32_t signal_op) {
  if (signal_op != SPARKGAP_SIGNAL_SET && signal_op != SPARKGAP_SIGNAL_ADD) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "there is no signal operation %d", signal_op);
  }
}

void check_comparison(int32_t comparison) {
  if (comparison < SPARKGAP_EQ || comparison > SPARKGAP_LE) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "there is no comparison %d", comparison);
  }
}

void check_pe(const World& world, int32_t pe, const char* name) {
  if (pe < 0 || pe >= world.pes()) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%s is %d, but the world has PEs 0 to %d", name, pe, world.pes() - 1);
  }
}

uint64_t checked_bytes(uint64_t count, int32_t type, uint64_t blocks) {
  uint64_t bytes;
  if (__builtin_mul_overflow(count, type_bytes(type) * blocks, &bytes) || bytes > kMostBytes) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "a count of %llu %s is more than memory holds (or negative)",
         static_cast<unsigned long long>(count), type_name(type));
  }
  return bytes;
}

void check_allocation(const World& world, uint64_t bytes) {
  // A page less, so that rounding up to pages cannot overflow either.
  if (bytes > kMostBytes / static_cast<uint64_t>(world.pes()) - kPageBytes) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%llu bytes on each of %d PEs are more than memory holds (or negative)",
         static_cast<unsigned long long>(bytes), world.pes());
  }
}

void check_memory(const Range& range, int32_t type, const char* name) {
  if (range.bytes == 0) return;
  check_pointer(range.address, name);
  if (begin_of(range) % type_bytes(type) != 0) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%s (%p) is not aligned to a %s", name, range.address, type_name(type));
  }
  if (begin_of(range) > UINTPTR_MAX - range.bytes) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%s reaches past the end of memory", name);
  }
}

void check_apart(const Range& in, const Range& out, bool in_place) {
  if (!in_place && overlap(in, out)) refuse_overlap();
}

void check_in_buffer(const World& world, const Buffer* buffer, uint64_t offset, uint64_t bytes, const char* name) {
  check_pointer(buffer, name);
  if (buffer->world != &world) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%s is a buffer of another world", name);
  if (offset > buffer->bytes || bytes > buffer->bytes - offset) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%llu bytes at offset %llu are not within %s, which has %llu bytes",
         static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(offset), name,
         static_cast<unsigned long long>(buffer->bytes));
  }
}

void check_word(const World& world, const Buffer* buffer, uint64_t offset, const char* name) {
  check_in_buffer(world, buffer, offset, sizeof(int64_t), name);
  if (offset % sizeof(int64_t) != 0) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "offset %llu of %s is not aligned to 8 bytes",
         static_cast<unsigned long long>(offset), name);
  }
}

void check_blocks(const World& world, const void* in, const uint64_t* send_counts, const uint64_t* send_offsets,
                  void* out, const uint64_t* receive_counts, const uint64_t* receive_offsets, int32_t type) {
  const uint64_t element_bytes = type_bytes(type);
  const Blocks send = {in, send_counts, send_offsets, element_bytes};
  const Blocks receive = {out, receive_counts, receive_offsets, element_bytes};
  const Range in_extent = check_extent(send, world.pes(), "in");
  const Range out_extent = check_extent(receive, world.pes(), "out");
  check_memory(in_extent, type, "in");
  check_memory(out_extent, type, "out");
  if (!overlap(in_extent, out_extent)) return;
  const int32_t pes = world.pes();
  const bool in_place = in == out && std::equal(send_counts, send_counts + pes, receive_counts) &&
                        std::equal(send_offsets, send_offsets + pes, receive_offsets);
  if (in_place) return;
  for (int32_t to = 0; to < pes; ++to) {
    for (int32_t from = 0; from < pes; ++from) {
      if (overlap(send[to], receive[from])) refuse_overlap();
    }
  }
}

}  // namespace sparkgap
