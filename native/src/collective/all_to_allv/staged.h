// allToAllv through slots.
//
//   Step 1 tells sizes:  slot: | count for PE 0 | count for PE 1 | ... |     each PE compares them with what it expects
//   (a difference aborts the world with both numbers), and all take the largest count of the world, so that all make
//   the same number of further steps. Those are as in allToAll, with what is left of each block.
//
// Any memory, in place (same counts and offsets both ways) or not.
#ifndef SPARKGAP_COLLECTIVE_ALL_TO_ALLV_STAGED_H
#define SPARKGAP_COLLECTIVE_ALL_TO_ALLV_STAGED_H

#include "world.h"

namespace sparkgap {

// Where the blocks of one direction are: pes counts and offsets, in elements.
struct BlockTable {
  const uint64_t* counts;
  const uint64_t* offsets;
};

void all_to_allv_staged(World& world, const void* in, const BlockTable& send, void* out, const BlockTable& receive,
                        uint64_t element_bytes);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_ALL_TO_ALLV_STAGED_H
