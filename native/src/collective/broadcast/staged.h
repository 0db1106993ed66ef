// broadcast through the root's slot: in each step the root copies a piece in, and every other PE copies it out. The
// root does not wait for the step, only, before it writes a slot again, for the step that read it last. Any memory, in
// place or not.
#ifndef SPARKGAP_COLLECTIVE_BROADCAST_STAGED_H
#define SPARKGAP_COLLECTIVE_BROADCAST_STAGED_H

#include "world.h"

namespace sparkgap {

void broadcast_staged(World& world, const void* in, void* out, uint64_t bytes, int32_t root);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_BROADCAST_STAGED_H
