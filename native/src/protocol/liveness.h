// What a wait asks a provider: does this peer still exist?
#ifndef SPARKGAP_PROTOCOL_LIVENESS_H
#define SPARKGAP_PROTOCOL_LIVENESS_H

#include <cstdint>

namespace sparkgap {

class Liveness {
 public:
  virtual ~Liveness() = default;
  // True once the process of `pe` has ended. Called from waits that last, every few milliseconds; never blocks.
  virtual bool has_ended(int32_t pe) = 0;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_LIVENESS_H
