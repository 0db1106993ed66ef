// allToAll in chunks: each PE writes, piece by piece, block r of its input to PE r. Layout: collective/blocks.cuh.
//
// In place is safe through slots: a piece of a block of `in` has been written to its PE before the same bytes of `out`
// are. Straight into the others' `out` it would not be, so in place has no place.
#include "collective/blocks.cuh"
#include "collective/launch.h"

namespace sparkgap::kernels {
namespace {

__global__ void __launch_bounds__(kLaneThreads, kLaneBlocks) all_to_all_chunked(const __grid_constant__ LaneCall call) {
  BlockExchange(call, call.pieces.total).run(call.in == call.out ? 0 : call.place);
}

}  // namespace

int32_t launch_all_to_all_chunked(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  return launch_blocks(all_to_all_chunked, world, stream, call);
}

}  // namespace sparkgap::kernels
