// allToAll: every PE copies its block of each other's array from where it lies.
//
//   step 1: where the arrays lie      own blocks of the others --copy--> out      step 2: meet
//
// Not in place: a block would be overwritten before its receiver has it. False if a PE wants it in place, or if a PE's
// array cannot be read; its `in` is as it was.
#ifndef SPARKGAP_COLLECTIVE_ALL_TO_ALL_DIRECT_H
#define SPARKGAP_COLLECTIVE_ALL_TO_ALL_DIRECT_H

#include "reduce/reduce.h"
#include "world.h"

namespace sparkgap {

bool all_to_all_direct(World& world, const void* in, void* out, uint64_t bytes_per_pe, CopyFunction copy_out);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_ALL_TO_ALL_DIRECT_H
