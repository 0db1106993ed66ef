// allReduce out of symmetric arrays, two-shot in pieces: every PE reduces its part of a piece from where the arrays
// lie, then all copy each other's parts.
//
//   slot of a PE:  | its part of the result of the piece |
//
//   step 1:       where the arrays lie
//   step 1 + k:   own part of piece k of all arrays --reduce--> own slot, and --copy--> out      post, wait for all
//                 parts of the result of piece k in all slots --copy--> out
//
// Against two-shot it saves the copy of every array into slots, and its pieces are larger. `out` may be any memory, and
// the call be in place: a part of `in` is overwritten after the PE that reads it has posted its result.
// False, with nothing done, if a PE's `in` is not in the symmetric heap.
#ifndef SPARKGAP_COLLECTIVE_ALL_REDUCE_DIRECT_H
#define SPARKGAP_COLLECTIVE_ALL_REDUCE_DIRECT_H

#include "reduce/reduce.h"
#include "world.h"

namespace sparkgap {

// `copy_out` moves what goes to `out`: copy_streaming where that would not stay in the caches.
bool all_reduce_direct(World& world, const void* in, void* out, uint64_t count, uint64_t element_bytes,
                       ReduceFunction reduce, CopyFunction copy_out);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_ALL_REDUCE_DIRECT_H
