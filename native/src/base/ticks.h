// The processor's own clock: cheap enough to be read twice in a call of a tenth of a microsecond.
#ifndef SPARKGAP_BASE_TICKS_H
#define SPARKGAP_BASE_TICKS_H

#include <x86intrin.h>

#include <cstdint>

namespace sparkgap {

// Counts at a constant rate, on all CPUs of a host alike. What stands around it may run before or after it by some
// nanoseconds.
inline uint64_t ticks() { return __rdtsc(); }

// How long a tick is, as far as this process has seen by now.
double nanoseconds_per_tick();

}  // namespace sparkgap

#endif  // SPARKGAP_BASE_TICKS_H
