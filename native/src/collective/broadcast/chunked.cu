// broadcast in chunks: the root scatters each piece, and every PE passes its part on to the others.
//
// So every PE's link carries the message about once, where a root that writes everything to all would carry it pes - 1
// times. (Scatter + all-gather, after van de Geijn.)
//
//   message | piece 0              | piece 1              | ...     lane l has pieces l, l + lanes, ...
//             | part of PE 0 | part of PE 1 | ...                   part_bytes each, the last ones shorter or empty
//
//   slot of PE r, step s, from the root:          from another PE q:
//     +-------------------+---------------------+    +-----------------------+----------+
//     | r's part of p_s   | root's part of p_s  |    | q's part of p_s-1     |          |
//     +-------------------+---------------------+    +-----------------------+----------+
//     0                   slot_bytes / 2             0                       slot_bytes / 2
//
//   step s of a lane with m pieces, s = 0..m: root writes | exchange | the others copy their part of p_s to `out` and
//   into
//     the others' slots of step s + 1, and copy the parts of p_s-1 that came
//
// Rotation: protocol/lane.cuh.
#include "collective/lanes.cuh"
#include "collective/launch.h"

namespace sparkgap::kernels {
namespace {

struct BroadcastCall {
  LaneCall lanes;
  uint64_t part_bytes;
};

__device__ void scatter(const BroadcastCall& call, const Lane& lane, uint64_t piece) {
  const LaneCall& lanes = call.lanes;
  const Part own = part_of(lanes.pieces, call.part_bytes, piece, lanes.root);
  for (int32_t i = 1; i < lanes.world.pes; ++i) {
    const int32_t peer = lane.neighbour(i);
    const Part part = part_of(lanes.pieces, call.part_bytes, piece, peer);
    uint8_t* slot = lane.slot_at_peer(peer);
    copy_block(slot, lanes.in + part.begin, part.bytes);
    copy_block(slot + slot_bytes(lanes.world.pes) / 2, lanes.in + own.begin, own.bytes);
  }
  if (lanes.out != lanes.in) {
    copy_block(lanes.out + lanes.pieces.begin(piece), lanes.in + lanes.pieces.begin(piece), lanes.pieces.size(piece));
  }
}

__device__ void pass_on(const BroadcastCall& call, const Lane& lane, uint64_t piece) {
  const LaneCall& lanes = call.lanes;
  const uint8_t* from_root = lane.slot_of(lanes.root);
  const Part own = part_of(lanes.pieces, call.part_bytes, piece, lanes.world.pe);
  for (int32_t i = 1; i < lanes.world.pes; ++i) {
    const int32_t peer = lane.neighbour(i);
    if (peer != lanes.root) copy_block(lane.next_slot_at_peer(peer), from_root, own.bytes);
  }
  copy_block(lanes.out + own.begin, from_root, own.bytes);
  const Part roots = part_of(lanes.pieces, call.part_bytes, piece, lanes.root);
  copy_block(lanes.out + roots.begin, from_root + slot_bytes(lanes.world.pes) / 2, roots.bytes);
}

__device__ void take(const BroadcastCall& call, const Lane& lane, uint64_t piece) {
  const LaneCall& lanes = call.lanes;
  for (int32_t i = 1; i < lanes.world.pes; ++i) {
    const int32_t peer = lane.neighbour(i);
    if (peer == lanes.root) continue;
    const Part part = part_of(lanes.pieces, call.part_bytes, piece, peer);
    copy_block(lanes.out + part.begin, lane.slot_of(peer), part.bytes);
  }
}

__global__ void __launch_bounds__(kLaneThreads, kLaneBlocks)
    broadcast_chunked(const __grid_constant__ BroadcastCall call) {
  const LaneCall& lanes = call.lanes;
  const bool is_root = lanes.world.pe == lanes.root;
  Lane lane(lanes.world, lanes.collective, lanes.signature);
  const uint64_t stride = gridDim.x;
  for (uint64_t piece = blockIdx.x;; piece += stride) {
    if (is_root) scatter(call, lane, piece);
    if (!lane.exchange(0)) return;
    if (!is_root) {
      pass_on(call, lane, piece);
      if (piece >= stride) take(call, lane, piece - stride);
    }
    if (lanes.pieces.size(piece) == 0) break;
    lane.next_step();
  }
  lane.finish();
}

}  // namespace

int32_t launch_broadcast_chunked(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  BroadcastCall broadcast = {};
  broadcast.lanes = lane_call(world, call);
  const int32_t lanes = cut_in_parts(call.count * element_bytes(call.type), slot_bytes(world.pes) / 2, world.pes,
                                     lanes_of(world, call), &broadcast.lanes.pieces, &broadcast.part_bytes);
  return launch_lanes(broadcast_chunked, world, stream, lanes, broadcast);
}

}  // namespace sparkgap::kernels
