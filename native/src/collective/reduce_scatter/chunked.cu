// reduceScatter in chunks: each PE writes to every other the chunk that is that one's, then adds what has come to it.
//
//   in of each PE | block of PE 0                     | block of PE 1 | ...
//                   | piece 0 | piece 1 | ...                            lane l has pieces l, l + lanes, ...
//
//   slot of PE r, step s, from PE q: q's input of piece p_s of block r, at most slot_bytes
//
//   step s: write piece p_s of block r to PE r, for all r | exchange | add piece p_s of the own block into `out`
//
// In place is safe: a piece of the own block is read before it is written, and nobody else's block is written.
// Rotation: protocol/lane.cuh.
#include "collective/lanes.cuh"
#include "collective/launch.h"
#include "reduce/fold.cuh"

namespace sparkgap::kernels {
namespace {

struct ReduceScatterCall {
  LaneCall lanes;
  int32_t divisor;
};

// Fills the table in shared memory; the block has to meet before it is used.
__device__ void prepare_fold(Fold* fold, const ReduceScatterCall& call, const Lane& lane, uint64_t begin,
                             uint64_t bytes) {
  const LaneCall& lanes = call.lanes;
  const KernelWorld& world = lanes.world;
  const uint8_t* own = lanes.in + world.pe * lanes.pieces.total + begin;
  for (int32_t pe = 0; pe < world.pes; ++pe) fold->from[pe] = pe == world.pe ? own : lane.slot_of(pe);
  fold->to[0] = lanes.out + begin;
  fold->pes = world.pes;
  fold->targets = 1;
  fold->count = bytes / element_bytes(lanes.type);
  fold->divisor = call.divisor;
  fold->vectors = (reinterpret_cast<uint64_t>(own) | reinterpret_cast<uint64_t>(fold->to[0])) % sizeof(uint4) == 0;
}

template <class Element>
__global__ void __launch_bounds__(kLaneThreads, kLaneBlocks)
    reduce_scatter_chunked(const __grid_constant__ ReduceScatterCall call) {
  __shared__ Fold fold;
  const LaneCall& lanes = call.lanes;
  Lane lane(lanes.world, lanes.collective);
  for (uint64_t piece = blockIdx.x;; piece += gridDim.x) {
    const uint64_t begin = lanes.pieces.begin(piece);
    const uint64_t bytes = lanes.pieces.size(piece);
    for (int32_t i = 1; i < lanes.world.pes; ++i) {
      const int32_t peer = lane.neighbour(i);
      copy_block(lane.slot_at_peer(peer), lanes.in + peer * lanes.pieces.total + begin, bytes);
    }
    if (!lane.exchange(0)) return;
    if (threadIdx.x == 0) prepare_fold(&fold, call, lane, begin, bytes);
    __syncthreads();
    fold_block<Element>(fold, lanes.op);
    if (lanes.pieces.size(piece + gridDim.x) == 0) break;
    lane.next_step();
  }
  lane.finish();
}

// By type.
constexpr void (*kKernels[SPARKGAP_TYPES])(ReduceScatterCall) =
#define SPARKGAP_KERNEL_OF(Element) reduce_scatter_chunked<Element>
    SPARKGAP_FOR_EACH_ELEMENT(SPARKGAP_KERNEL_OF);
#undef SPARKGAP_KERNEL_OF

}  // namespace

int32_t launch_reduce_scatter_chunked(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  ReduceScatterCall scatter = {};
  scatter.lanes = lane_call(world, call);
  scatter.divisor = call.op == SPARKGAP_AVG ? world.pes : 0;
  const uint64_t bytes = call.count * element_bytes(call.type);
  const int32_t lanes = cut(bytes, slot_bytes(world.pes), world.lanes, &scatter.lanes.pieces);
  return launch_lanes(kKernels[call.type], world, stream, lanes, scatter);
}

}  // namespace sparkgap::kernels
