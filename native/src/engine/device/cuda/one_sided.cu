#include "engine/device/cuda/one_sided.h"
#include "engine/device/device.h"
#include "protocol/wait.cuh"
#include "sparkgap/device/comparison.h"

namespace sparkgap::kernels {
namespace {

__device__ int64_t load_system(const int64_t* word) {
  int64_t value;
  asm volatile("ld.acquire.sys.global.s64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}

__device__ void store_system(int64_t* word, int64_t value) {
  asm volatile("st.release.sys.global.s64 [%0], %1;" : : "l"(word), "l"(value) : "memory");
}

__global__ void signal_kernel(int64_t* word, int64_t value, int32_t signal_op) {
  __threadfence_system();
  if (signal_op == SPARKGAP_SIGNAL_SET) {
    // A store, which every link carries.
    store_system(word, value);
  } else {
    atomicAdd_system(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(value));
  }
}

__global__ void wait_signal_kernel(const __grid_constant__ KernelWorld world, const int64_t* word, int32_t comparison,
                                   int64_t value, int64_t* observed) {
  const Awaited awaited = {kWaitSignal, -1, 0, 0, 0};
  int64_t seen = 0;
  wait_until(world, awaited, [&](Seen* shown) {
    seen = load_system(word);
    shown->number = static_cast<uint32_t>(seen);
    return holds(seen, comparison, value);
  });
  *observed = seen;
}

__global__ void fetch_add_kernel(int64_t* word, int64_t delta, int64_t* before) {
  __threadfence_system();
  auto* bits = reinterpret_cast<unsigned long long*>(word);
  *before = static_cast<int64_t>(atomicAdd_system(bits, static_cast<unsigned long long>(delta)));
  __threadfence_system();
}

}  // namespace

int32_t launch_signal(CUstream_st* stream, int64_t* word, int64_t value, int32_t signal_op) {
  signal_kernel<<<1, 1, 0, stream>>>(word, value, signal_op);
  return cudaGetLastError();
}

int32_t launch_wait_signal(const KernelWorld& world, CUstream_st* stream, const int64_t* word, int32_t comparison,
                           int64_t value, int64_t* observed) {
  wait_signal_kernel<<<1, 1, 0, stream>>>(world, word, comparison, value, observed);
  return cudaGetLastError();
}

int32_t launch_fetch_add(CUstream_st* stream, int64_t* word, int64_t delta, int64_t* before) {
  fetch_add_kernel<<<1, 1, 0, stream>>>(word, delta, before);
  return cudaGetLastError();
}

}  // namespace sparkgap::kernels
