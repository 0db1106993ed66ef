// allGather: every PE copies each other's block from where it lies.
//
//   step 1: where the blocks lie      blocks of the others --copy--> out      step 2: meet
//
// A block crosses once, where staged copies it twice. Any memory that the others can read, in place (in == own block of
// out) or not. False if a PE's block cannot be read; its `in` is as it was.
#ifndef SPARKGAP_COLLECTIVE_ALL_GATHER_DIRECT_H
#define SPARKGAP_COLLECTIVE_ALL_GATHER_DIRECT_H

#include "reduce/reduce.h"
#include "world.h"

namespace sparkgap {

bool all_gather_direct(World& world, const void* in, void* out, uint64_t bytes_per_pe, CopyFunction copy_out);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_ALL_GATHER_DIRECT_H
