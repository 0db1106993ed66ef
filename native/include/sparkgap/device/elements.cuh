// The element types and operations on the device. Reductions take the PEs in order, 0 first, and give the same bits as
// reduce/kernels.cc on the host.
#ifndef SPARKGAP_DEVICE_ELEMENTS_CUH
#define SPARKGAP_DEVICE_ELEMENTS_CUH

#include <cstdint>

#include "sparkgap/sparkgap.h"

namespace sparkgap::device {

// An element: how it is stored, and what it is computed in.
template <class T>
struct Plain {
  using Stored = T;
  using Wide = T;
  static __device__ __forceinline__ T widen(T value) { return value; }
  static __device__ __forceinline__ T narrow(T value) { return value; }
};

struct Float16 {
  using Stored = uint16_t;
  using Wide = float;
  static __device__ __forceinline__ float widen(uint16_t bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
  }
  static __device__ __forceinline__ uint16_t narrow(float value) {
    uint16_t bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
  }
};

struct Bfloat16 {
  using Stored = uint16_t;
  using Wide = float;
  static __device__ __forceinline__ float widen(uint16_t bits) {
    return __uint_as_float(static_cast<uint32_t>(bits) << 16);
  }
  static __device__ __forceinline__ uint16_t narrow(float value) {
    uint16_t bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
  }
};

template <class T>
constexpr bool kIsReal = static_cast<T>(0.5) != static_cast<T>(0);

// Of float64 a GPU keeps the bits of one of the operands that is no number, and which one is up to the compiler: every
// such result gets the same bits, on all PEs and in all kernels. Narrower types have that from the hardware.
template <class T>
__device__ __forceinline__ T canonical(T value) {
  if constexpr (sizeof(T) == 8 && kIsReal<T>) {
    return value == value ? value : __longlong_as_double(0x7ff8000000000000ll);
  }
  return value;
}

// Integers wrap; so they are added and multiplied without a sign.
struct Sum {
  template <class T>
  static __device__ __forceinline__ T combine(T a, T b) {
    if constexpr (kIsReal<T>) return canonical(a + b);
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
};

struct Product {
  template <class T>
  static __device__ __forceinline__ T combine(T a, T b) {
    if constexpr (kIsReal<T>) return canonical(a * b);
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
};

struct Minimum {
  template <class T>
  static __device__ __forceinline__ T combine(T a, T b) {
    return a != a || a < b ? a : b;
  }
};

struct Maximum {
  template <class T>
  static __device__ __forceinline__ T combine(T a, T b) {
    return a != a || a > b ? a : b;
  }
};

// What the sum becomes at the end: divided by `divisor`, or as it is where that is 0.
template <class T>
__device__ __forceinline__ T divide(T sum, int32_t divisor) {
  if (divisor == 0) return sum;
  if constexpr (kIsReal<T>) return sum / static_cast<T>(divisor);
  if constexpr (sizeof(T) == 8) return sum / static_cast<int64_t>(divisor);
  return static_cast<T>(static_cast<int32_t>(sum) / divisor);
}

// What there is for each SPARKGAP type, in their order; for tables of kernels.
#define SPARKGAP_FOR_EACH_ELEMENT(use)                                          \
  {use(Plain<float>),  use(Plain<double>),  use(Float16),        use(Bfloat16), \
   use(Plain<int8_t>), use(Plain<uint8_t>), use(Plain<int32_t>), use(Plain<int64_t>)}

}  // namespace sparkgap::device

#endif  // SPARKGAP_DEVICE_ELEMENTS_CUH
