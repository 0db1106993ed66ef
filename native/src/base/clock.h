// The clock that every deadline is read from.
#ifndef SPARKGAP_BASE_CLOCK_H
#define SPARKGAP_BASE_CLOCK_H

#include <time.h>

#include <cstdint>

namespace sparkgap {

// Microseconds of CLOCK_MONOTONIC, the same for all processes of a host.
inline int64_t now_us() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000000 + now.tv_nsec / 1000;
}

}  // namespace sparkgap

#endif  // SPARKGAP_BASE_CLOCK_H
