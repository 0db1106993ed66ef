// allReduce, two-shot in pipelined pieces: every PE reduces its part of a piece, then all copy each other's parts.
//
//   slot of a PE:  | its input of piece k | its part of the result of piece k - 1 |
//
//   step k:   in piece k (but the own part) --copy--> own slot      post, wait for all
//             own part of piece k: in + all slots --reduce--> own slot of step k + 1, and --copy--> out
//             parts of the result of piece k - 1 in all slots --copy--> out
//
// pieces + 1 steps, one wait each. A PE reads (pes - 1) / pes of the message twice, where one-shot reads it pes - 1
// times. Any memory, in place or not: a piece of `out` is written at or after the step in which all of that piece was
// copied.
#ifndef SPARKGAP_COLLECTIVE_ALL_REDUCE_TWO_SHOT_H
#define SPARKGAP_COLLECTIVE_ALL_REDUCE_TWO_SHOT_H

#include "reduce/reduce.h"
#include "world.h"

namespace sparkgap {

// `copy_out` moves what goes to `out`: copy_streaming where that would not stay in the caches.
void all_reduce_two_shot(World& world, const void* in, void* out, uint64_t count, uint64_t element_bytes,
                         ReduceFunction reduce, CopyFunction copy_out);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_ALL_REDUCE_TWO_SHOT_H
