// Copies by a block: 16 bytes at a time where source and destination allow it, else as many as both are aligned to.
#ifndef SPARKGAP_PROTOCOL_COPY_CUH
#define SPARKGAP_PROTOCOL_COPY_CUH

#include <cstdint>

namespace sparkgap::kernels {

// Past the first-level cache, which does not see what peers write. Source and destination may be the same memory.
template <class Value>
__device__ __forceinline__ Value load_fresh(const Value* from) {
  return __ldcg(from);
}

template <class Value>
__device__ __forceinline__ void copy_values(void* to, const void* from, uint64_t bytes) {
  constexpr int kInFlight = 4;
  const Value* source = static_cast<const Value*>(from);
  Value* target = static_cast<Value*>(to);
  const uint64_t count = bytes / sizeof(Value);
  uint64_t i = threadIdx.x;
  for (; i + (kInFlight - 1) * blockDim.x < count; i += kInFlight * blockDim.x) {
    Value values[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) values[k] = load_fresh(source + i + k * blockDim.x);
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) target[i + k * blockDim.x] = values[k];
  }
  for (; i < count; i += blockDim.x) target[i] = load_fresh(source + i);
  const uint64_t rest = count * sizeof(Value);
  if (rest + threadIdx.x < bytes) {
    static_cast<uint8_t*>(to)[rest + threadIdx.x] = load_fresh(static_cast<const uint8_t*>(from) + rest + threadIdx.x);
  }
}

// The threads of the block must meet before others than the one that wrote a byte read it.
__device__ inline void copy_block(void* to, const void* from, uint64_t bytes) {
  const uint64_t together = reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(from);
  if (together % 16 == 0) {
    copy_values<uint4>(to, from, bytes);
  } else if (together % 8 == 0) {
    copy_values<uint64_t>(to, from, bytes);
  } else if (together % 4 == 0) {
    copy_values<uint32_t>(to, from, bytes);
  } else if (together % 2 == 0) {
    copy_values<uint16_t>(to, from, bytes);
  } else {
    copy_values<uint8_t>(to, from, bytes);
  }
}

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_PROTOCOL_COPY_CUH
