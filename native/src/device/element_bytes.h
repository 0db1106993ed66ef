// Bytes of one element of a data type, for libsparkgap_cuda.so.
#ifndef SPARKGAP_DEVICE_ELEMENT_BYTES_H
#define SPARKGAP_DEVICE_ELEMENT_BYTES_H

#include <cstdint>

#include "sparkgap/sparkgap.h"

namespace sparkgap {

constexpr uint64_t element_bytes(int32_t type) {
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
