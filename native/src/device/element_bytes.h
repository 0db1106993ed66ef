// Bytes of one element of a data type, for kernels and the code around them.
#ifndef SPARKGAP_DEVICE_ELEMENT_BYTES_H
#define SPARKGAP_DEVICE_ELEMENT_BYTES_H

#include <cstdint>

#include "host_device.h"
#include "sparkgap/sparkgap.h"

namespace sparkgap {

SPARKGAP_HOST_DEVICE constexpr uint64_t element_bytes(int32_t type) {
  switch (type) {
    case SPARKGAP_INT8:
    case SPARKGAP_UINT8:
      return 1;
    case SPARKGAP_FLOAT16:
    case SPARKGAP_BFLOAT16:
      return 2;
    case SPARKGAP_FLOAT32:
    case SPARKGAP_INT32:
      return 4;
    default:
      return 8;
  }
}

}  // namespace sparkgap

#endif  // SPARKGAP_DEVICE_ELEMENT_BYTES_H
