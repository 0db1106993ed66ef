// reduceScatter through slots.
//
//   `in` has a block for each PE. In each step a piece of every block travels:
//     slot: | piece of block 0 | piece of block 1 | ... |      each starts on a cache line
//   PE p reads the p-th piece of every slot and reduces it into its `out`.
//
// Any memory, in place (out == own block of in) or not: a piece of `out` is written after that piece of every block of
// `in` was copied.
#ifndef SPARKGAP_COLLECTIVE_REDUCE_SCATTER_STAGED_H
#define SPARKGAP_COLLECTIVE_REDUCE_SCATTER_STAGED_H

#include "reduce/reduce.h"
#include "world.h"

namespace sparkgap {

void reduce_scatter_staged(World& world, const void* in, void* out, uint64_t count_per_pe, uint64_t element_bytes,
                           ReduceFunction reduce);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_REDUCE_SCATTER_STAGED_H
