// What the C functions check before anything is touched. Every check throws INVALID_ARGUMENT with what was given.
#ifndef SPARKGAP_ARGUMENTS_H
#define SPARKGAP_ARGUMENTS_H

#include <cstdint>

#include "world.h"

namespace sparkgap {

// A range of the caller's memory.
struct Range {
  const void* address;
  uint64_t bytes;
};

void check_pointer(const void* pointer, const char* name);
// UNAVAILABLE for a name that is not one of "host", "nvshmem", "nccl".
void check_provider(const char* name);
void check_type(int32_t type);
void check_op(int32_t op);
void check_collective(int32_t collective);
void check_signal_op(int32_t signal_op);
void check_comparison(int32_t comparison);
void check_pe(const World& world, int32_t pe, const char* name);

// count * type's bytes * blocks, refused if that is more than an address can span.
uint64_t checked_bytes(uint64_t count, int32_t type, uint64_t blocks);

// A symmetric buffer whose parts together can be named by an offset.
void check_allocation(const World& world, uint64_t bytes);

// Memory of a collective: there if it is not empty, and aligned to an element.
void check_memory(const Range& range, int32_t type, const char* name);

// `in` and `out` do not overlap, unless they are in place: `out` is exactly where the operation allows it.
void check_apart(const Range& in, const Range& out, bool in_place);

// A buffer of this world, with `bytes` at `offset`.
void check_in_buffer(const World& world, const Buffer* buffer, uint64_t offset, uint64_t bytes, const char* name);

// A 64-bit word of a buffer.
void check_word(const World& world, const Buffer* buffer, uint64_t offset, const char* name);

// The blocks of an allToAllv that are not empty: within the address space, apart between the two directions.
void check_blocks(const World& world, const void* in, const uint64_t* send_counts, const uint64_t* send_offsets,
                  void* out, const uint64_t* receive_counts, const uint64_t* receive_offsets, int32_t type);

}  // namespace sparkgap

#endif  // SPARKGAP_ARGUMENTS_H
