// allToAll in chunks: each PE writes, piece by piece, block r of its input to PE r.
//
//   in, out | block of PE 0                     | block of PE 1 | ...
//           | piece 0 | piece 1 | ...                            lane l has pieces l, l + lanes, ...
//
//   slot of PE r, step s, from PE q: piece p_s of q's block r, at most slot_bytes
//
//   step s: write piece p_s of block r to PE r, for all r | exchange | copy what came from the slots to `out`
//
// In place is safe: a piece of a block of `in` has been written to its PE before the same bytes of `out` are.
// Large blocks begin with a step without data. If all PEs then have the same place and none is in place, each writes
// its blocks straight into the others' `out`, and one more exchange ends the call. Rotation: protocol/lane.cuh.
#include "collective/lanes.cuh"
#include "collective/launch.h"

namespace sparkgap::kernels {
namespace {

__device__ bool exchange_directly(const LaneCall& call, Lane& lane) {
  const KernelWorld& world = call.world;
  lane.next_step();
  for (uint64_t piece = blockIdx.x; call.pieces.size(piece) > 0; piece += gridDim.x) {
    const uint64_t begin = call.pieces.begin(piece);
    for (int32_t i = 1; i < world.pes; ++i) {
      const int32_t peer = lane.neighbour(i);
      copy_block(call.peer_out[peer] + world.pe * call.pieces.total + begin, call.in + peer * call.pieces.total + begin,
                 call.pieces.size(piece));
    }
  }
  return lane.exchange(0);
}

__device__ bool exchange_through_slots(const LaneCall& call, Lane& lane) {
  const KernelWorld& world = call.world;
  for (uint64_t piece = blockIdx.x;; piece += gridDim.x) {
    const uint64_t begin = call.pieces.begin(piece);
    const uint64_t bytes = call.pieces.size(piece);
    for (int32_t i = 1; i < world.pes; ++i) {
      const int32_t peer = lane.neighbour(i);
      copy_block(lane.slot_at_peer(peer), call.in + peer * call.pieces.total + begin, bytes);
    }
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
  if (call.out == call.in) return;
  const uint64_t at = call.world.pe * call.pieces.total;
  for (uint64_t piece = blockIdx.x; call.pieces.size(piece) > 0; piece += gridDim.x) {
    const uint64_t begin = at + call.pieces.begin(piece);
    copy_block(call.out + begin, call.in + begin, call.pieces.size(piece));
  }
}

__global__ void __launch_bounds__(kLaneThreads, kLaneBlocks) all_to_all_chunked(const __grid_constant__ LaneCall call) {
  Lane lane(call.world, call.collective);
  copy_own_block(call);
  bool direct = false;
  if (begins_with_places(call)) {
    if (!lane.exchange(call.in == call.out ? 0 : call.place)) return;
    direct = lane.agrees();
    if (!direct) lane.next_step();
  }
  if (direct ? exchange_directly(call, lane) : exchange_through_slots(call, lane)) lane.finish();
}

}  // namespace

int32_t launch_all_to_all_chunked(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  LaneCall exchange = lane_call(world, call);
  const uint64_t bytes = call.count * bytes_of_type(call.type);
  const int32_t lanes = cut(bytes, slot_bytes(world.pes), world.lanes, &exchange.pieces);
  return launch_lanes(all_to_all_chunked, world, stream, lanes, exchange);
}

}  // namespace sparkgap::kernels
