// allGather in chunks: each PE writes its block, piece by piece, to every other. Layout: collective/blocks.cuh.
#include "collective/blocks.cuh"
#include "collective/launch.h"

namespace sparkgap::kernels {
namespace {

__global__ void __launch_bounds__(kLaneThreads, kLaneBlocks) all_gather_chunked(const __grid_constant__ LaneCall call) {
  BlockExchange(call, 0).run(call.place);
}

}  // namespace

int32_t launch_all_gather_chunked(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  return launch_blocks(all_gather_chunked, world, stream, call);
}

}  // namespace sparkgap::kernels
