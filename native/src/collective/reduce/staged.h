// reduce through slots: in each step every PE but the root copies a piece into its slot, and the root reduces them all.
// Only the root waits. Any memory, in place or not.
#ifndef SPARKGAP_COLLECTIVE_REDUCE_STAGED_H
#define SPARKGAP_COLLECTIVE_REDUCE_STAGED_H

#include "reduce/reduce.h"
#include "world.h"

namespace sparkgap {

void reduce_staged(World& world, const void* in, void* out, uint64_t count, uint64_t element_bytes,
                   ReduceFunction reduce, int32_t root);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_REDUCE_STAGED_H
