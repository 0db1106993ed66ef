// allGather through slots: in each step a piece of every PE's block travels in that PE's slot, and every PE copies it
// out. Any memory, in place (in == own block of out) or not.
#ifndef SPARKGAP_COLLECTIVE_ALL_GATHER_STAGED_H
#define SPARKGAP_COLLECTIVE_ALL_GATHER_STAGED_H

#include "world.h"

namespace sparkgap {

void all_gather_staged(World& world, const void* in, void* out, uint64_t bytes_per_pe);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_ALL_GATHER_STAGED_H
