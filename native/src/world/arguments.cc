#include "world/arguments.h"

#include <algorithm>

#include "description/collective.h"
#include "description/types.h"
#include "protocol/layout.h"

namespace sparkgap {
namespace {

constexpr uint64_t kMostBytes = static_cast<uint64_t>(INT64_MAX);

uintptr_t begin_of(const Range& range) { return reinterpret_cast<uintptr_t>(range.address); }
uintptr_t end_of(const Range& range) { return begin_of(range) + range.bytes; }

[[noreturn]] void refuse_overlap() {
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe,
       "in and out overlap without being in place (see sparkgap.h for what in place means for each operation)");
}

const uint8_t* address_at(const void* base, uint64_t bytes) { return static_cast<const uint8_t*>(base) + bytes; }

// count elements for each of some blocks, refused if that is more than an address can span.
uint64_t bytes_of(uint64_t count, int32_t type, uint64_t blocks) {
  uint64_t bytes;
  if (__builtin_mul_overflow(count, element_bytes(type) * blocks, &bytes) || bytes > kMostBytes) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "a count of %llu %s is more than memory holds (or negative)",
         static_cast<unsigned long long>(count), type_name(type));
  }
  return bytes;
}

// There if it is not empty, and aligned to an element.
void check_memory(const Range& range, int32_t type, const char* name) {
  if (range.bytes == 0) return;
  check_pointer(range.address, name);
  if (begin_of(range) % element_bytes(type) != 0) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%s (%p) is not aligned to a %s", name, range.address, type_name(type));
  }
  if (begin_of(range) > UINTPTR_MAX - range.bytes) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%s reaches past the end of memory", name);
  }
}

// What of an array this PE uses.
Range check_array(const World& world, const CollectiveCall& call, Array array, const void* address, const char* name) {
  const uint64_t bytes = bytes_of(call.count, call.type, blocks_of(array, static_cast<uint64_t>(world.pes())));
  const Range range = {address, is_used(array, world.pe(), call.root) ? bytes : 0};
  check_memory(range, call.type, name);
  return range;
}

bool is_in_place(const World& world, const CollectiveCall& call) {
  const uint64_t own_block = static_cast<uint64_t>(world.pe()) * given_bytes(call);
  switch (description_of(call).in_place) {
    case InPlace::kOutIsBlockOfIn:
      return call.out == address_at(call.in, own_block);
    case InPlace::kInIsBlockOfOut:
      return call.in == address_at(call.out, own_block);
    default:
      return call.in == call.out;
  }
}

struct Blocks {
  const void* base;
  const uint64_t* counts;
  const uint64_t* offsets;
  uint64_t element;

  Range operator[](int32_t pe) const { return {address_at(base, offsets[pe] * element), counts[pe] * element}; }
};

// The smallest range that holds all blocks; throws if one is out of any memory.
Range check_extent(const Blocks& blocks, int32_t pes, const char* name) {
  uint64_t first = UINT64_MAX;
  uint64_t last = 0;
  for (int32_t pe = 0; pe < pes; ++pe) {
    if (blocks.counts[pe] == 0) continue;
    uint64_t end;
    if (__builtin_add_overflow(blocks.counts[pe], blocks.offsets[pe], &end) || end > kMostBytes / blocks.element) {
      fail(SPARKGAP_INVALID_ARGUMENT, kNoPe,
           "%s block of PE %d: %llu elements at offset %llu are more than memory holds", name, pe,
           static_cast<unsigned long long>(blocks.counts[pe]), static_cast<unsigned long long>(blocks.offsets[pe]));
    }
    first = std::min(first, blocks.offsets[pe]);
    last = std::max(last, end);
  }
  if (last == 0) return {blocks.base, 0};
  if (blocks.base == nullptr) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%s is null but has elements", name);
  return {address_at(blocks.base, first * blocks.element), (last - first) * blocks.element};
}

// The blocks that are not empty: within the address space, apart between the two directions.
void check_tables(const World& world, const CollectiveCall& call) {
  check_pointer(call.send_counts, "send_counts");
  check_pointer(call.send_offsets, "send_offsets");
  check_pointer(call.receive_counts, "receive_counts");
  check_pointer(call.receive_offsets, "receive_offsets");
  const int32_t pes = world.pes();
  const int32_t own = world.pe();
  if (call.send_counts[own] != call.receive_counts[own]) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "PE %d sends %llu elements to itself, but receives %llu of its own", own,
         static_cast<unsigned long long>(call.send_counts[own]),
         static_cast<unsigned long long>(call.receive_counts[own]));
  }
  const Blocks send = {call.in, call.send_counts, call.send_offsets, element_bytes(call.type)};
  const Blocks receive = {call.out, call.receive_counts, call.receive_offsets, element_bytes(call.type)};
  const Range in = check_extent(send, pes, "in");
  const Range out = check_extent(receive, pes, "out");
  check_memory(in, call.type, "in");
  check_memory(out, call.type, "out");
  if (!overlap(in, out)) return;
  const bool in_place = call.in == call.out && std::equal(send.counts, send.counts + pes, receive.counts) &&
                        std::equal(send.offsets, send.offsets + pes, receive.offsets);
  if (in_place) return;
  for (int32_t to = 0; to < pes; ++to) {
    for (int32_t from = 0; from < pes; ++from) {
      if (overlap(send[to], receive[from])) refuse_overlap();
    }
  }
}

}  // namespace

bool overlap(const Range& a, const Range& b) {
  return a.bytes > 0 && b.bytes > 0 && begin_of(a) < end_of(b) && begin_of(b) < end_of(a);
}

void check_pointer(const void* pointer, const char* name) {
  if (pointer == nullptr) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%s is null", name);
}

void check_type(int32_t type) {
  if (type < 0 || type >= SPARKGAP_TYPES) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "there is no data type %d", type);
}

void check_op(int32_t op) {
  if (op < 0 || op >= SPARKGAP_OPS) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "there is no reduction %d", op);
}

void check_collective(int32_t collective) {
  if (!is_collective(collective)) {
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

uint64_t checked_bytes(uint64_t count, int32_t type) { return bytes_of(count, type, 1); }

void check_arguments(const World& world, const CollectiveCall& call) {
  const Collective& what = description_of(call);
  check_type(call.type);
  if (what.has_op) check_op(call.op);
  if (what.has_root) check_pe(world, call.root, "root");
  if (what.has_tables()) return check_tables(world, call);
  const Range in = check_array(world, call, what.in, call.in, "in");
  const Range out = check_array(world, call, what.out, call.out, "out");
  if (overlap(in, out) && !is_in_place(world, call)) refuse_overlap();
}

void check_allocation(const World& world, uint64_t bytes) {
  // A page less, so that rounding up to pages cannot overflow either.
  if (bytes > kMostBytes / static_cast<uint64_t>(world.pes()) - kPageBytes) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%llu bytes on each of %d PEs are more than memory holds (or negative)",
         static_cast<unsigned long long>(bytes), world.pes());
  }
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

void check_put(const World& world, const Buffer* dst, uint64_t offset, const void* src, uint64_t bytes, int32_t pe) {
  check_pe(world, pe, "pe");
  check_in_buffer(world, dst, offset, bytes, "dst");
  if (bytes > 0) check_pointer(src, "src");
}

void check_word(const World& world, const Buffer* buffer, uint64_t offset, const char* name) {
  check_in_buffer(world, buffer, offset, sizeof(int64_t), name);
  if (offset % sizeof(int64_t) != 0) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "offset %llu of %s is not aligned to 8 bytes",
         static_cast<unsigned long long>(offset), name);
  }
}

}  // namespace sparkgap
