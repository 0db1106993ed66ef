// Copies by a block or a part of it: 16 bytes at a time where source and destination allow it, else as many as both are
// aligned to.
#ifndef SPARKGAP_DEVICE_COPY_CUH
#define SPARKGAP_DEVICE_COPY_CUH

#include <cstdint>

namespace sparkgap::device {

// Past the first-level cache, which does not see what peers write. Source and destination may be the same memory.
template <class Value>
__device__ __forceinline__ Value load_fresh(const Value* from) {
  return __ldcg(from);
}

// Who copies: `thread` of `threads`.
struct Team {
  uint32_t thread;
  uint32_t threads;
};

__device__ __forceinline__ Team whole_block() { return {threadIdx.x, blockDim.x}; }

// Less than 4 GiB.
template <class Value>
__device__ __forceinline__ void copy_values(void* to, const void* from, uint32_t bytes, const Team& team) {
  constexpr int kInFlight = 4;
  const Value* source = static_cast<const Value*>(from);
  Value* target = static_cast<Value*>(to);
  const uint32_t count = bytes / sizeof(Value);
  for (uint32_t i = team.thread; i < count; i += kInFlight * team.threads) {
    Value values[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      if (i + k * team.threads < count) values[k] = load_fresh(source + i + k * team.threads);
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      if (i + k * team.threads < count) target[i + k * team.threads] = values[k];
    }
  }
  const uint32_t rest = count * sizeof(Value);
  if (rest + team.thread < bytes) {
    static_cast<uint8_t*>(to)[rest + team.thread] = load_fresh(static_cast<const uint8_t*>(from) + rest + team.thread);
  }
}

// Where not both are aligned to 16 bytes: rare, and kept out of the kernels' way.
static __device__ __noinline__ void copy_unaligned(uint32_t thread, uint32_t threads, void* to, const void* from,
                                                   uint32_t bytes) {
  const Team team = {thread, threads};
  const uint64_t together = reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(from);
  if (together % 8 == 0) {
    copy_values<uint64_t>(to, from, bytes, team);
  } else if (together % 4 == 0) {
    copy_values<uint32_t>(to, from, bytes, team);
  } else if (together % 2 == 0) {
    copy_values<uint16_t>(to, from, bytes, team);
  } else {
    copy_values<uint8_t>(to, from, bytes, team);
  }
}

// The threads of the team must meet before others than the one that wrote a byte read it. A team has at least 16.
__device__ __forceinline__ void copy_by(const Team& team, void* to, const void* from, uint64_t bytes) {
  const uint64_t together = reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(from);
  if (together % 16 == 0) {
    copy_values<uint4>(to, from, static_cast<uint32_t>(bytes), team);
  } else {
    copy_unaligned(team.thread, team.threads, to, from, static_cast<uint32_t>(bytes));
  }
}

__device__ inline void copy_block(void* to, const void* from, uint64_t bytes) {
  copy_by(whole_block(), to, from, bytes);
}

}  // namespace sparkgap::device

#endif  // SPARKGAP_DEVICE_COPY_CUH
