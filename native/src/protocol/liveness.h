// What is asked of a provider about a peer: which process it is, and whether that still exists.
#ifndef SPARKGAP_PROTOCOL_LIVENESS_H
#define SPARKGAP_PROTOCOL_LIVENESS_H

#include <sys/types.h>

#include <cstdint>

namespace sparkgap {

class Liveness {
 public:
  virtual ~Liveness() = default;
  // True once the process of `pe` has ended. Called from waits that last, every few milliseconds; never blocks.
  virtual bool has_ended(int32_t pe) = 0;
  // The process of a PE that has connected, as it was then.
  virtual pid_t process(int32_t pe) = 0;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_LIVENESS_H
