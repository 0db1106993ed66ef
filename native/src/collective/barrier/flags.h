// barrier: one step without data. Each PE posts in its own line and waits for everybody else's line.
#ifndef SPARKGAP_COLLECTIVE_BARRIER_FLAGS_H
#define SPARKGAP_COLLECTIVE_BARRIER_FLAGS_H

#include "world.h"

namespace sparkgap {

inline void barrier_flags(World& world) { world.steps().meet(); }

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_BARRIER_FLAGS_H
