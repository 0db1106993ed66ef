// allReduce, one-shot: every PE reduces everything.
//
//   step s, for each piece that fits a slot:
//     in piece --copy--> own slot          | post, wait for all |      in + all other slots --reduce--> out piece
//
// One wait a piece, pes - 1 reads of the whole message a PE. Slots rotate with the steps (protocol/layout.h). Any
// memory, in place or not: a piece of `out` is written after the same piece of `in` was copied.
#ifndef SPARKGAP_COLLECTIVE_ALL_REDUCE_ONE_SHOT_H
#define SPARKGAP_COLLECTIVE_ALL_REDUCE_ONE_SHOT_H

#include "reduce/reduce.h"
#include "world.h"

namespace sparkgap {

void all_reduce_one_shot(World& world, const void* in, void* out, uint64_t count, uint64_t element_bytes,
                         ReduceFunction reduce);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_ALL_REDUCE_ONE_SHOT_H
