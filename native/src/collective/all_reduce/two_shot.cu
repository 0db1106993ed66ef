// allReduce, two-shot in pipelined chunks: for middle and large messages. Reduce to one root as well.
//
// Each PE is sent its part of a piece by all, adds it in PE order, and sends the result to all; results of one piece
// travel in the same step as the parts of the next. Over the link goes twice the message times (pes - 1) / pes, as in a
// ring, but in two trips. (The scheme is that of reduce-scatter + all-gather after Rabenseifner, over peer pointers.)
//
//   message | piece 0              | piece 1              | ...     lane l has pieces l, l + lanes, ...
//             | part of PE 0 | part of PE 1 | ...                   part_bytes each, the last ones shorter or empty
//
//   slot of PE r, step s, from PE q (one for each lane and parity, see protocol/scratch.h):
//     +---------------------------------+--------------------------------+
//     | q's input, r's part of piece k  | result, q's part of piece k-1  |
//     +---------------------------------+--------------------------------+
//     0                                 slot_bytes / 2
//
//   step s of a lane with pieces p0, p1, ... pm-1, s = 0..m:
//     write the parts of p_s to their PEs | exchange | add own part of p_s, write the result to `out` and into the
//     peers' slots of step s + 1 | copy the results of p_s-1 from the slots to `out`
//
// Where all PEs gave the same place, results go straight into the peers' `out`; a peer that has come out of the
// exchange has read what lies there (in place), and the exchange of the next step says that the result is there. With a
// root only that PE gets results. Rotation: protocol/lane.cuh.
#include "collective/lanes.cuh"
#include "collective/launch.h"
#include "reduce/fold.cuh"

namespace sparkgap::kernels {
namespace {

struct TwoShotCall {
  LaneCall lanes;
  uint64_t part_bytes;
  int32_t divisor;
};

constexpr int32_t kNoRoot = -1;

// Fills the table in shared memory; the block has to meet before it is used.
__device__ void prepare_fold(Fold* fold, const TwoShotCall& call, const Lane& lane, const Part& part, bool direct) {
  const LaneCall& lanes = call.lanes;
  const int32_t pes = lanes.world.pes;
  const int32_t own = lanes.world.pe;
  uint64_t together = reinterpret_cast<uint64_t>(lanes.in + part.begin);
  fold->pes = pes;
  fold->count = part.bytes / element_bytes(lanes.type);
  fold->divisor = call.divisor;
  for (int32_t pe = 0; pe < pes; ++pe) fold->from[pe] = pe == own ? lanes.in + part.begin : lane.slot_of(pe);
  int32_t targets = 0;
  for (int32_t i = 0; i < pes; ++i) {
    const int32_t pe = lane.neighbour(i);
    if (lanes.root != kNoRoot && pe != lanes.root) continue;
    uint8_t* to = lane.next_slot_at_peer(pe) + slot_bytes(pes) / 2;
    if (pe == own) to = lanes.out + part.begin;
    if (pe != own && direct) to = lanes.peer_out[pe] + part.begin;
    together |= reinterpret_cast<uint64_t>(to);
    fold->to[targets++] = to;
  }
  fold->targets = targets;
  fold->vectors = together % sizeof(uint4) == 0;
}

template <class Element>
__global__ void __launch_bounds__(kLaneThreads, kLaneBlocks)
    all_reduce_two_shot(const __grid_constant__ TwoShotCall call) {
  __shared__ Fold fold;
  const LaneCall& lanes = call.lanes;
  const KernelWorld& world = lanes.world;
  const bool gets_results = lanes.root == kNoRoot || lanes.root == world.pe;
  bool direct = false;
  Lane lane(world, lanes.collective, lanes.signature);

  const uint64_t stride = gridDim.x;
  for (uint64_t piece = blockIdx.x;; piece += stride) {
    for (int32_t i = 1; i < world.pes; ++i) {
      const int32_t peer = lane.neighbour(i);
      const Part part = part_of(lanes.pieces, call.part_bytes, piece, peer);
      copy_block(lane.slot_at_peer(peer), lanes.in + part.begin, part.bytes);
    }
    if (!lane.exchange(lanes.place)) return;
    if (piece == blockIdx.x) direct = lane.agrees();

    const Part own = part_of(lanes.pieces, call.part_bytes, piece, world.pe);
    if (own.bytes > 0) {
      if (threadIdx.x == 0) prepare_fold(&fold, call, lane, own, direct);
      __syncthreads();
      fold_block<Element>(fold, lanes.op);
    }
    if (piece >= stride && gets_results && !direct) {
      for (int32_t i = 1; i < world.pes; ++i) {
        const int32_t peer = lane.neighbour(i);
        const Part part = part_of(lanes.pieces, call.part_bytes, piece - stride, peer);
        copy_block(lanes.out + part.begin, lane.slot_of(peer) + slot_bytes(world.pes) / 2, part.bytes);
      }
    }
    if (lanes.pieces.size(piece) == 0) break;
    lane.next_step();
  }
  lane.finish();
}

// By type.
constexpr void (*kKernels[SPARKGAP_TYPES])(TwoShotCall) =
#define SPARKGAP_KERNEL_OF(Element) all_reduce_two_shot<Element>
    SPARKGAP_FOR_EACH_ELEMENT(SPARKGAP_KERNEL_OF);
#undef SPARKGAP_KERNEL_OF

int32_t launch_two_shot(const KernelWorld& world, CUstream_st* stream, const KernelCall& call, int32_t root) {
  TwoShotCall two_shot = {};
  two_shot.lanes = lane_call(world, call);
  two_shot.lanes.root = root;
  const int32_t lanes = cut_in_parts(call.count * element_bytes(call.type), slot_bytes(world.pes) / 2, world.pes,
                                     lanes_of(world, call), &two_shot.lanes.pieces, &two_shot.part_bytes);
  two_shot.divisor = call.op == SPARKGAP_AVG ? world.pes : 0;
  return launch_lanes(kKernels[call.type], world, stream, lanes, two_shot);
}

}  // namespace

int32_t launch_all_reduce_two_shot(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  return launch_two_shot(world, stream, call, kNoRoot);
}

// Only the root's `out` gets the results, so there is nothing to agree about: they always go through the slots.
int32_t launch_reduce_two_shot(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  KernelCall staged = call;
  staged.place = 0;
  return launch_two_shot(world, stream, staged, call.root);
}

}  // namespace sparkgap::kernels
