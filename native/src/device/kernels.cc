#include "device/kernels.h"

#include <algorithm>

#include "collective/launch.h"
#include "protocol/scratch.h"

namespace sparkgap::kernels {

uint64_t scratch_bytes(int32_t pes) { return scratch_size(static_cast<uint64_t>(pes)); }

// Two launches of a PE can be on the GPU at once (meet_launch_order), and a multiprocessor has room for two blocks of
// any kernel of a collective: a lane of each PE for each multiprocessor always fits.
int32_t lanes_for(int32_t multiprocessors, int32_t pes_per_device) {
  return std::max(1, std::min(kMaxLanes, multiprocessors / std::max(1, pes_per_device)));
}

namespace {

int32_t launch_all_reduce(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  switch (call.algorithm) {
    case Algorithm::kPackets:
      return launch_all_reduce_packets(world, stream, call);
    case Algorithm::kRing:
      return launch_all_reduce_ring(world, stream, call);
    default:
      return launch_all_reduce_two_shot(world, stream, call);
  }
}

}  // namespace

int32_t launch(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  const bool empty = call.count == 0;
  switch (call.collective) {
    case SPARKGAP_BARRIER:
      return launch_barrier_flags(world, stream, call);
    case SPARKGAP_ALL_TO_ALLV:
      return launch_all_to_allv_chunked(world, stream, call);
    case SPARKGAP_ALL_REDUCE:
      return empty ? 0 : launch_all_reduce(world, stream, call);
    case SPARKGAP_REDUCE:
      return empty ? 0 : launch_reduce_two_shot(world, stream, call);
    case SPARKGAP_REDUCE_SCATTER:
      return empty ? 0 : launch_reduce_scatter_chunked(world, stream, call);
    case SPARKGAP_ALL_GATHER:
      return empty ? 0 : launch_all_gather_chunked(world, stream, call);
    case SPARKGAP_BROADCAST:
      return empty ? 0 : launch_broadcast_chunked(world, stream, call);
    default:
      return empty ? 0 : launch_all_to_all_chunked(world, stream, call);
  }
}

}  // namespace sparkgap::kernels
