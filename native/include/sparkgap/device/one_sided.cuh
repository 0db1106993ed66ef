// One-sided calls of one thread: addresses of peers, signals, and the wait for one.
//
// Memory model. A signal is a release for the whole system: whoever has seen its value, by wait() or by an acquire of
// its own, sees all that the signalling thread wrote before, and all that other threads wrote before they met it at a
// barrier of their block (__syncthreads) or of their grid. wait() is the acquire to it, for the thread that waits and
// for those that meet it afterwards.
#ifndef SPARKGAP_DEVICE_ONE_SIDED_CUH
#define SPARKGAP_DEVICE_ONE_SIDED_CUH

#include "sparkgap/device/comparison.h"
#include "sparkgap/device/wait.cuh"

namespace sparkgap::device {

// Where this PE's GPU sees byte `offset` of `pe`'s part of a symmetric buffer. It can be read and written like any
// other memory; writes are much faster than reads.
template <class T = void>
__device__ __forceinline__ T* peer_address(const sparkgap_device_buffer& buffer, int32_t pe, uint64_t offset = 0) {
  return reinterpret_cast<T*>(static_cast<uint8_t*>(buffer.parts[pe]) + offset);
}

__device__ __forceinline__ int64_t load_acquire(const int64_t* word) {
  int64_t value;
  asm volatile("ld.acquire.sys.global.s64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}

__device__ __forceinline__ uint32_t load_acquire(const uint32_t* word) {
  uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
  return value;
}

// Sets a word, of whichever PE, which every link carries.
__device__ __forceinline__ void signal(int64_t* word, int64_t value) {
  asm volatile("st.release.sys.global.s64 [%0], %1;" : : "l"(word), "l"(value) : "memory");
}

// Adds to one, as no other can come between: not over links that carry no atomics (docs/gpu.md).
__device__ __forceinline__ void signal_add(int64_t* word, int64_t delta) {
  asm volatile("red.release.sys.global.add.u64 [%0], %1;" : : "l"(word), "l"(delta) : "memory");
}

// Waits until `word`, of this PE's own memory, compares true with `value` (SPARKGAP_EQ...). False if the world has been
// aborted or the deadline is over: then the kernel has to end. `lane` is for the error.
__device__ inline bool wait(const sparkgap_device_world& world, const int64_t* word, int32_t comparison, int64_t value,
                            int32_t lane = 0) {
  if (world.layout != SPARKGAP_DEVICE_LAYOUT) return false;
  const Awaited awaited = {kInCallersKernel + kWaitSignal, -1, lane, static_cast<uint32_t>(value), 0};
  const bool came = wait_until(world, awaited, [&](Seen* seen) {
    const int64_t found = *static_cast<const volatile int64_t*>(word);
    seen->number = static_cast<uint32_t>(found);
    return holds(found, comparison, value);
  });
  load_acquire(word);
  return came;
}

}  // namespace sparkgap::device

#endif  // SPARKGAP_DEVICE_ONE_SIDED_CUH
