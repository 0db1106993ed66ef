// allGather out of symmetric arrays: every PE copies each other's block from where it lies.
//
//   step 1: where the blocks lie      blocks of the others --copy--> out      step 2: meet
//
// A block crosses once, where staged copies it twice. In place (in == own block of out) or not; `out` may be any
// memory. False, with nothing done, if a PE's `in` is not in the symmetric heap.
#ifndef SPARKGAP_COLLECTIVE_ALL_GATHER_DIRECT_H
#define SPARKGAP_COLLECTIVE_ALL_GATHER_DIRECT_H

#include "reduce/reduce.h"
#include "world.h"

namespace sparkgap {

bool all_gather_direct(World& world, const void* in, void* out, uint64_t bytes_per_pe, CopyFunction copy_out);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_ALL_GATHER_DIRECT_H
