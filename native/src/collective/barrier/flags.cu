// barrier: one step of one lane without data. What a PE's stream did before it is visible to all whose barrier has
// ended: the flags are raised after a fence for the whole system.
#include "collective/lanes.cuh"
#include "collective/launch.h"

namespace sparkgap::kernels {
namespace {

constexpr int32_t kBarrierThreads = 32;
static_assert(kMaxPes <= kBarrierThreads, "a thread waits for each PE");

__global__ void __launch_bounds__(kBarrierThreads) barrier_flags(const __grid_constant__ KernelWorld world) {
  // There is one kind of barrier only.
  Lane lane(world, SPARKGAP_BARRIER, 0);
  if (lane.exchange(0)) lane.finish();
}

}  // namespace

int32_t launch_barrier_flags(const KernelWorld& world, CUstream_st* stream, const KernelCall&) {
  const LaunchShape shape = {reinterpret_cast<const void*>(barrier_flags), 1, kBarrierThreads, false, 0};
  return enqueue(world, stream, shape, &world, sizeof world);
}

}  // namespace sparkgap::kernels
