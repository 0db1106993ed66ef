// The element types and reductions: how large an element is, and what people call them. For kernels, too.
#ifndef SPARKGAP_DESCRIPTION_TYPES_H
#define SPARKGAP_DESCRIPTION_TYPES_H

#include <cstdint>

#include "sparkgap/device/host_device.h"
#include "sparkgap/sparkgap.h"

namespace sparkgap {

// Bytes of an element; 0 for an unknown type.
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
    case SPARKGAP_FLOAT64:
    case SPARKGAP_INT64:
      return 8;
    default:
      return 0;
  }
}

constexpr const char* type_name(int32_t type) {
  constexpr const char* kNames[SPARKGAP_TYPES] = {"float32", "float64", "float16", "bfloat16",
                                                  "int8",    "uint8",   "int32",   "int64"};
  return type >= 0 && type < SPARKGAP_TYPES ? kNames[type] : "of an unknown type";
}

constexpr const char* op_name(int32_t op) {
  constexpr const char* kNames[SPARKGAP_OPS] = {"SUM", "PROD", "MIN", "MAX", "AVG"};
  return op >= 0 && op < SPARKGAP_OPS ? kNames[op] : "with an unknown operation";
}

}  // namespace sparkgap

#endif  // SPARKGAP_DESCRIPTION_TYPES_H
