// What a waitSignal compares, on the host and in a kernel.
#ifndef SPARKGAP_DEVICE_COMPARISON_H
#define SPARKGAP_DEVICE_COMPARISON_H

#include <cstdint>

#include "sparkgap/device/host_device.h"
#include "sparkgap/sparkgap.h"

namespace sparkgap::device {

// `comparison`: SPARKGAP_EQ...
SPARKGAP_HOST_DEVICE constexpr bool holds(int64_t observed, int32_t comparison, int64_t value) {
  switch (comparison) {
    case SPARKGAP_EQ:
      return observed == value;
    case SPARKGAP_NE:
      return observed != value;
    case SPARKGAP_GT:
      return observed > value;
    case SPARKGAP_GE:
      return observed >= value;
    case SPARKGAP_LT:
      return observed < value;
    default:
      return observed <= value;
  }
}

}  // namespace sparkgap::device

#endif  // SPARKGAP_DEVICE_COMPARISON_H
