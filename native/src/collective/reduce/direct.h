// reduce out of symmetric arrays: the root reduces all arrays from where they lie.
//
//   step 1: where the arrays lie      root: all arrays --reduce--> out      step 2: meet
//
// In place or not; `out` and the root's `in` may be any memory. False, with nothing done, if another PE's `in` is not
// in the symmetric heap.
#ifndef SPARKGAP_COLLECTIVE_REDUCE_DIRECT_H
#define SPARKGAP_COLLECTIVE_REDUCE_DIRECT_H

#include "reduce/reduce.h"
#include "world.h"

namespace sparkgap {

bool reduce_direct(World& world, const void* in, void* out, uint64_t count, uint64_t element_bytes,
                   ReduceFunction reduce, int32_t root);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_REDUCE_DIRECT_H
