// How blocks change PEs in allGather and allToAll: each PE writes, piece by piece, a block to every other.
//
//   block, in each PE | piece 0 | piece 1 | ...           lane l has pieces l, l + lanes, ...
//   out               | block of PE 0 | block of PE 1 | ...
//
//   slot of PE r, step s, from PE q: piece p_s of q's block for r, at most slot_bytes
//
//   step s: write piece p_s to each PE | exchange | copy what came from the slots to `out`
//
// Large blocks begin with a step without data. If all PEs then have the same place, each writes its blocks straight
// into the others' `out`, and one more exchange ends the call. Rotation: protocol/lane.cuh.
#ifndef SPARKGAP_COLLECTIVE_BLOCKS_CUH
#define SPARKGAP_COLLECTIVE_BLOCKS_CUH

#include "collective/lanes.cuh"

namespace sparkgap::kernels {

class BlockExchange {
 public:
  // `stride`: bytes in `in` from the block for one PE to that for the next; 0: all get the same.
  __device__ BlockExchange(const LaneCall& call, uint64_t stride)
      : call_(call), stride_(stride), lane_(call.world, call.collective) {}

  // The whole call. `place` is 0 where the PE does not want anything written straight into its `out`.
  __device__ void run(uint64_t place) {
    copy_own();
    bool direct = false;
    if (begins_with_places(call_)) {
      if (!lane_.exchange(place)) return;
      direct = lane_.agrees();
      if (!direct) lane_.next_step();
    }
    if (direct ? write_directly() : write_through_slots()) lane_.finish();
  }

 private:
  __device__ const uint8_t* block_for(int32_t pe) const { return call_.in + pe * stride_; }
  __device__ uint64_t block_of(int32_t pe) const { return pe * call_.pieces.total; }

  __device__ bool write_directly() {
    lane_.next_step();
    for (uint64_t piece = blockIdx.x; call_.pieces.size(piece) > 0; piece += gridDim.x) {
      const uint64_t begin = call_.pieces.begin(piece);
      for (int32_t i = 1; i < call_.world.pes; ++i) {
        const int32_t peer = lane_.neighbour(i);
        copy_block(call_.peer_out[peer] + block_of(call_.world.pe) + begin, block_for(peer) + begin,
                   call_.pieces.size(piece));
      }
    }
    return lane_.exchange(0);
  }

  __device__ bool write_through_slots() {
    for (uint64_t piece = blockIdx.x;; piece += gridDim.x) {
      const uint64_t begin = call_.pieces.begin(piece);
      const uint64_t bytes = call_.pieces.size(piece);
      for (int32_t i = 1; i < call_.world.pes; ++i) {
        const int32_t peer = lane_.neighbour(i);
        copy_block(lane_.slot_at_peer(peer), block_for(peer) + begin, bytes);
      }
      if (!lane_.exchange(0)) return false;
      for (int32_t i = 1; i < call_.world.pes; ++i) {
        const int32_t peer = lane_.neighbour(i);
        copy_block(call_.out + block_of(peer) + begin, lane_.slot_of(peer), bytes);
      }
      if (call_.pieces.size(piece + gridDim.x) == 0) return true;
      lane_.next_step();
    }
  }

  __device__ void copy_own() const {
    const uint8_t* from = block_for(call_.world.pe);
    uint8_t* to = call_.out + block_of(call_.world.pe);
    if (to == from) return;
    for (uint64_t piece = blockIdx.x; call_.pieces.size(piece) > 0; piece += gridDim.x) {
      const uint64_t begin = call_.pieces.begin(piece);
      copy_block(to + begin, from + begin, call_.pieces.size(piece));
    }
  }

  const LaneCall& call_;
  const uint64_t stride_;
  Lane lane_;
};

// Enqueues a kernel that runs a BlockExchange over blocks of call.count elements.
inline int32_t launch_blocks(void (*kernel)(LaneCall), const KernelWorld& world, CUstream_st* stream,
                             const KernelCall& call) {
  LaneCall blocks = lane_call(world, call);
  const uint64_t bytes = call.count * element_bytes(call.type);
  const int32_t lanes = cut(bytes, slot_bytes(world.pes), world.lanes, &blocks.pieces);
  return launch_lanes(kernel, world, stream, lanes, blocks);
}

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_BLOCKS_CUH
