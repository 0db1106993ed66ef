// How kernels of the library wait (sparkgap/device/wait.cuh), and how those of one stream follow each other.
#ifndef SPARKGAP_PROTOCOL_WAIT_CUH
#define SPARKGAP_PROTOCOL_WAIT_CUH

#include <cstddef>

#include "protocol/scratch.h"
#include "sparkgap/device/wait.cuh"

namespace sparkgap::kernels {

static_assert(offsetof(Counters, broken) == kBrokenAt, "whoever gives up says it where all look");

__device__ inline Counters* counters_of(const KernelWorld& world) {
  return static_cast<Counters*>(world.scratch[world.pe]);
}

// Every kernel of a collective may be set up while the one before it in the stream still runs. Before it does what
// others see, and before it reads what is not its world's own, it waits for that one's end; and only then it lets the
// next be set up: never more than two of a PE are on the GPU.
__device__ __forceinline__ void await_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void let_next_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
__device__ __forceinline__ void meet_launch_order() {
  await_kernel_before();
  let_next_start();
}

// Keeps the compiler from working `address` out only where it is used, behind await_kernel_before().
template <class Value>
__device__ __forceinline__ void work_out_here(Value*& address) {
  asm volatile("" : "+l"(address));
}

// The parameters of a kernel, or a part of them, are read once before the wait for the kernel before, so that they are
// at hand behind it: the first reading of each 64 bytes takes a third of a microsecond.
template <class Parameters>
__device__ __forceinline__ void fetch_parameters(const Parameters& parameters) {
  const uint32_t* words = reinterpret_cast<const uint32_t*>(&parameters);
#pragma unroll
  for (uint64_t at = 0; at < sizeof(Parameters) / sizeof(uint32_t); at += 16) {
    asm volatile("" ::"r"(words[at]));
  }
}

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_PROTOCOL_WAIT_CUH
