// A row on its way as float8 (e4m3): a byte for each element, and for each 128 of them a float32 scale, so that the
// largest of them becomes the largest that a byte can hold. An element is its byte times its scale.
//
// 16 threads have a group of 128 elements, 8 each: what goes over the link are whole lines of 128 bytes.
#ifndef SPARKGAP_COLLECTIVE_DISPATCH_FLOAT8_CUH
#define SPARKGAP_COLLECTIVE_DISPATCH_FLOAT8_CUH

#include <cuda_fp8.h>

#include "protocol/kernel_world.h"
#include "sparkgap/device/copy.cuh"
#include "sparkgap/device/elements.cuh"

namespace sparkgap::kernels {

constexpr uint32_t kScaledTogether = SPARKGAP_FLOAT8_GROUP;
constexpr uint32_t kElementsOfThread = 8;
constexpr uint32_t kThreadsOfGroup = kScaledTogether / kElementsOfThread;
constexpr float kLargestFloat8 = 448;
// So that nothing is divided by 0, nor by what makes it infinite.
constexpr float kLeastOfGroup = 1e-30f;

// The eight elements of this thread.
template <class Element>
__device__ __forceinline__ void load_eight(const void* row, uint32_t at, float (&values)[kElementsOfThread]) {
  using Stored = typename Element::Stored;
  constexpr uint32_t kOfLoad = sizeof(uint4) / sizeof(Stored);
  union {
    uint4 loads[kElementsOfThread / kOfLoad];
    Stored elements[kElementsOfThread];
  } bits;
#pragma unroll
  for (uint32_t i = 0; i < kElementsOfThread / kOfLoad; ++i) {
    bits.loads[i] = load_fresh(static_cast<const uint4*>(row) + at * (kElementsOfThread / kOfLoad) + i);
  }
#pragma unroll
  for (uint32_t i = 0; i < kElementsOfThread; ++i) values[i] = Element::widen(bits.elements[i]);
}

// The largest magnitude of the group, in each of its threads.
__device__ __forceinline__ float largest_of_group(const float (&values)[kElementsOfThread]) {
  float largest = kLeastOfGroup;
#pragma unroll
  for (uint32_t i = 0; i < kElementsOfThread; ++i) largest = fmaxf(largest, fabsf(values[i]));
  const uint32_t group = 0xffffu << (threadIdx.x & 16);
#pragma unroll
  for (uint32_t distance = kThreadsOfGroup / 2; distance > 0; distance /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(group, largest, distance));
  }
  return largest;
}

__device__ __forceinline__ uint2 to_float8(const float (&values)[kElementsOfThread], float factor) {
  union {
    uint2 all;
    __nv_fp8x2_storage_t pairs[kElementsOfThread / 2];
  } bytes;
#pragma unroll
  for (uint32_t i = 0; i < kElementsOfThread / 2; ++i) {
    const float2 pair = {values[2 * i] * factor, values[2 * i + 1] * factor};
    bytes.pairs[i] = __nv_cvt_float2_to_fp8x2(pair, __NV_SATFINITE, __NV_E4M3);
  }
  return bytes.all;
}

// By all threads of a block: to `count` targets, of which those that are null get nothing.
template <class Element>
__device__ __forceinline__ void send_as_float8(const void* row, uint64_t width, uint8_t* const* targets,
                                               float* const* scales, int32_t count) {
  const auto groups = static_cast<uint32_t>(width / kScaledTogether);
  for (uint32_t group = threadIdx.x / kThreadsOfGroup; group < groups; group += blockDim.x / kThreadsOfGroup) {
    const uint32_t of_group = threadIdx.x % kThreadsOfGroup;
    const uint32_t at = group * kThreadsOfGroup + of_group;
    float values[kElementsOfThread];
    load_eight<Element>(row, at, values);
    const float largest = largest_of_group(values);
    const uint2 bytes = to_float8(values, kLargestFloat8 / largest);
    for (int32_t k = 0; k < count; ++k) {
      if (targets[k] == nullptr) continue;
      reinterpret_cast<uint2*>(targets[k])[at] = bytes;
      if (of_group == 0) scales[k][group] = largest / kLargestFloat8;
    }
  }
}

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_DISPATCH_FLOAT8_CUH
