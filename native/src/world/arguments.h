// What the C functions check before anything is touched. Every check throws INVALID_ARGUMENT with what was given.
#ifndef SPARKGAP_WORLD_ARGUMENTS_H
#define SPARKGAP_WORLD_ARGUMENTS_H

#include <cstdint>

#include "description/call.h"
#include "world/world.h"

namespace sparkgap {

// A range of the caller's memory.
struct Range {
  const void* address;
  uint64_t bytes;
};

// Of ranges that do not reach past the end of memory; one without bytes lies nowhere.
bool overlap(const Range& a, const Range& b);

void check_pointer(const void* pointer, const char* name);
void check_type(int32_t type);
void check_op(int32_t op);
void check_collective(int32_t collective);
void check_signal_op(int32_t signal_op);
void check_comparison(int32_t comparison);
void check_pe(const World& world, int32_t pe, const char* name);

// Bytes of `count` elements, refused if that is more than an address can span.
uint64_t checked_bytes(uint64_t count, int32_t type);

// A symmetric buffer whose parts together can be named by an offset.
void check_allocation(const World& world, uint64_t bytes);

// The arguments of a collective that has some, as its description says which and how they belong together.
void check_arguments(const World& world, const CollectiveCall& call);
inline void check_call(const World& world, const CollectiveCall& call) {
  if (description_of(call).has_type) check_arguments(world, call);
}

// A buffer of this world, with `bytes` at `offset`.
void check_in_buffer(const World& world, const Buffer* buffer, uint64_t offset, uint64_t bytes, const char* name);

// What is put, and where.
void check_put(const World& world, const Buffer* dst, uint64_t offset, const void* src, uint64_t bytes, int32_t pe);

// A 64-bit word of a buffer.
void check_word(const World& world, const Buffer* buffer, uint64_t offset, const char* name);

}  // namespace sparkgap

#endif  // SPARKGAP_WORLD_ARGUMENTS_H
