// allToAll through slots.
//
//   In each step a piece of every block travels:   slot: | for PE 0 | for PE 1 | ... |
//   PE p copies the p-th piece of every slot into the sender's block of its `out`.
//
// Any memory, in place or not: a piece of a block of `out` is written after that piece of all blocks of `in` was
// copied.
#ifndef SPARKGAP_COLLECTIVE_ALL_TO_ALL_STAGED_H
#define SPARKGAP_COLLECTIVE_ALL_TO_ALL_STAGED_H

#include "world.h"

namespace sparkgap {

void all_to_all_staged(World& world, const void* in, void* out, uint64_t bytes_per_pe);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_ALL_TO_ALL_STAGED_H
