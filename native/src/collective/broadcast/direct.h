// broadcast: every PE copies the root's array from where it lies.
//
//   step 1: where it lies      the root's array --copy--> out      step 2: meet
//
// In place or not. False if the root's `in` cannot be read; it is as it was.
#ifndef SPARKGAP_COLLECTIVE_BROADCAST_DIRECT_H
#define SPARKGAP_COLLECTIVE_BROADCAST_DIRECT_H

#include "reduce/reduce.h"
#include "world.h"

namespace sparkgap {

bool broadcast_direct(World& world, const void* in, void* out, uint64_t bytes, int32_t root, CopyFunction copy_out);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_BROADCAST_DIRECT_H
