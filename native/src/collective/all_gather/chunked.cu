// allGather in chunks: each PE writes its block, piece by piece, to every other.
//
//   in of each PE | piece 0 | piece 1 | ...           lane l has pieces l, l + lanes, ...
//   out           | block of PE 0 | block of PE 1 | ...
//
//   slot of PE r, step s, from PE q: piece p_s of q's block, at most slot_bytes
//
//   step s: write piece p_s to all | exchange | copy what came from the slots to `out`
//
// Large blocks begin with a step without data. If all PEs then have the same place, each writes its whole block
// straight into the others' `out`, and one more exchange ends the call. Rotation: protocol/lane.cuh.
#include "collective/lanes.cuh"
#include "collective/launch.h"

namespace sparkgap::kernels {
namespace {

__device__ bool gather_directly(const LaneCall& call, Lane& lane) {
  const KernelWorld& world = call.world;
  lane.next_step();
  for (uint64_t piece = blockIdx.x; call.pieces.size(piece) > 0; piece += gridDim.x) {
    const uint64_t begin = call.pieces.begin(piece);
    for (int32_t i = 1; i < world.pes; ++i) {
      uint8_t* block = call.peer_out[lane.neighbour(i)] + world.pe * call.pieces.total;
      copy_block(block + begin, call.in + begin, call.pieces.size(piece));
    }
  }
  return lane.exchange(0);
}

__device__ bool gather_through_slots(const LaneCall& call, Lane& lane) {
  const KernelWorld& world = call.world;
  for (uint64_t piece = blockIdx.x;; piece += gridDim.x) {
    const uint64_t begin = call.pieces.begin(piece);
    const uint64_t bytes = call.pieces.size(piece);
    for (int32_t i = 1; i < world.pes; ++i) copy_block(lane.slot_at_peer(lane.neighbour(i)), call.in + begin, bytes);
    if (!lane.exchange(0)) return false;
    for (int32_t i = 1; i < world.pes; ++i) {
      const int32_t peer = lane.neighbour(i);
      copy_block(call.out + peer * call.pieces.total + begin, lane.slot_of(peer), bytes);
    }
    if (call.pieces.size(piece + gridDim.x) == 0) return true;
    lane.next_step();
  }
}

__device__ void copy_own_block(const LaneCall& call) {
  uint8_t* own = call.out + call.world.pe * call.pieces.total;
  if (own == call.in) return;
  for (uint64_t piece = blockIdx.x; call.pieces.size(piece) > 0; piece += gridDim.x) {
    copy_block(own + call.pieces.begin(piece), call.in + call.pieces.begin(piece), call.pieces.size(piece));
  }
}

__global__ void __launch_bounds__(kLaneThreads, kLaneBlocks) all_gather_chunked(const __grid_constant__ LaneCall call) {
  Lane lane(call.world, call.collective);
  copy_own_block(call);
  bool direct = false;
  if (begins_with_places(call)) {
    if (!lane.exchange(call.place)) return;
    direct = lane.agrees();
    if (!direct) lane.next_step();
  }
  if (direct ? gather_directly(call, lane) : gather_through_slots(call, lane)) lane.finish();
}

}  // namespace

int32_t launch_all_gather_chunked(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  LaneCall gather = lane_call(world, call);
  const uint64_t bytes = call.count * bytes_of_type(call.type);
  const int32_t lanes = cut(bytes, slot_bytes(world.pes), world.lanes, &gather.pieces);
  return launch_lanes(all_gather_chunked, world, stream, lanes, gather);
}

}  // namespace sparkgap::kernels
