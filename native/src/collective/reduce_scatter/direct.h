// reduceScatter out of symmetric arrays: every PE reduces its block of all arrays from where they lie.
//
//   step 1: where the arrays lie      own block of all --reduce--> out      step 2: meet
//
// In place (out == own block of in, which nobody else reads) or not; `out` may be any memory. False, with nothing done,
// if a PE's `in` is not in the symmetric heap.
#ifndef SPARKGAP_COLLECTIVE_REDUCE_SCATTER_DIRECT_H
#define SPARKGAP_COLLECTIVE_REDUCE_SCATTER_DIRECT_H

#include "reduce/reduce.h"
#include "world.h"

namespace sparkgap {

bool reduce_scatter_direct(World& world, const void* in, void* out, uint64_t count_per_pe, uint64_t element_bytes,
                           ReduceFunction reduce);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_REDUCE_SCATTER_DIRECT_H
