// allToAllv in chunks: blocks of any size between any two PEs.
//
// A PE knows only its own counts. So the first step carries, from each PE to each other, how much is to come and how
// long the PE's longest block is; from these all lanes of all PEs know how many steps there will be, and a PE whose
// counts differ from what its peer sends ends the call before anything is written to `out`.
//
//   slot of PE r, step 0, from PE q: BlockHeader
//   slot of PE r, step s, from PE q: the piece of q's block for r that starts at (p_s) * slot_bytes, if there is one
//
//   lane l has pieces p_s = l, l + lanes, ... of every block
//
// In place (equal tables) is safe: a piece of a block has been written to its PE before the same bytes of `out` are.
// Rotation: protocol/lane.cuh.
#include "collective/lanes.cuh"
#include "collective/launch.h"

namespace sparkgap::kernels {
namespace {

struct BlockHeader {
  uint64_t bytes;          // that the source sends to this PE
  uint64_t longest_bytes;  // of the blocks that the source sends to anyone else
};

struct Block {
  uint64_t begin;
  uint64_t bytes;
};

struct ExchangeCall {
  LaneCall lanes;
  uint64_t longest_bytes;
  Block send[kMaxPes];
  Block receive[kMaxPes];
};

__device__ uint64_t piece_size(uint64_t block_bytes, uint64_t from, uint64_t most) {
  return from >= block_bytes ? 0 : min(most, block_bytes - from);
}

// Sends and reads the headers. The length of the longest block of all PEs, or ~0 if the call has to end.
__device__ uint64_t agree_on_length(const ExchangeCall& call, Lane& lane) {
  __shared__ BlockHeader headers[kMaxPes];
  const KernelWorld& world = call.lanes.world;
  const int32_t peer = threadIdx.x;
  const bool has_peer = peer < world.pes && peer != world.pe;
  if (has_peer) {
    *reinterpret_cast<BlockHeader*>(lane.slot_at_peer(peer)) = {call.send[peer].bytes, call.longest_bytes};
  }
  if (!lane.exchange(0)) return ~0ull;
  bool agree = true;
  if (has_peer) {
    const BlockHeader* header = reinterpret_cast<const BlockHeader*>(lane.slot_of(peer));
    headers[peer] = {load_fresh(&header->bytes), load_fresh(&header->longest_bytes)};
    agree = headers[peer].bytes == call.receive[peer].bytes;
    if (!agree) lane.refuse(WaitEnd::kCountsDisagree, peer, call.receive[peer].bytes, headers[peer].bytes);
  }
  if (!__syncthreads_and(agree)) return ~0ull;
  uint64_t longest = call.longest_bytes;
  for (int32_t pe = 0; pe < world.pes; ++pe) {
    if (pe != world.pe) longest = max(longest, headers[pe].longest_bytes);
  }
  return longest;
}

__device__ void copy_own_block(const ExchangeCall& call) {
  const Block& from = call.send[call.lanes.world.pe];
  const Block& to = call.receive[call.lanes.world.pe];
  const uint64_t most = slot_bytes(call.lanes.world.pes);
  if (call.lanes.in + from.begin == call.lanes.out + to.begin) return;
  for (uint64_t at = blockIdx.x * most; at < from.bytes; at += gridDim.x * most) {
    copy_block(call.lanes.out + to.begin + at, call.lanes.in + from.begin + at, piece_size(from.bytes, at, most));
  }
}

__global__ void __launch_bounds__(kLaneThreads, kLaneBlocks)
    all_to_allv_chunked(const __grid_constant__ ExchangeCall call) {
  const LaneCall& lanes = call.lanes;
  const KernelWorld& world = lanes.world;
  const uint64_t most = slot_bytes(world.pes);
  Lane lane(world, lanes.collective, lanes.signature);
  const uint64_t longest = agree_on_length(call, lane);
  if (longest == ~0ull) return;
  copy_own_block(call);
  for (uint64_t at = blockIdx.x * most; at < longest; at += gridDim.x * most) {
    lane.next_step();
    for (int32_t i = 1; i < world.pes; ++i) {
      const int32_t peer = lane.neighbour(i);
      const Block& block = call.send[peer];
      copy_block(lane.slot_at_peer(peer), lanes.in + block.begin + at, piece_size(block.bytes, at, most));
    }
    if (!lane.exchange(0)) return;
    for (int32_t i = 1; i < world.pes; ++i) {
      const int32_t peer = lane.neighbour(i);
      const Block& block = call.receive[peer];
      copy_block(lanes.out + block.begin + at, lane.slot_of(peer), piece_size(block.bytes, at, most));
    }
  }
  lane.finish();
}

}  // namespace

int32_t launch_all_to_allv_chunked(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  ExchangeCall exchange = {};
  exchange.lanes = lane_call(world, call);
  const uint64_t element = element_bytes(call.type);
  for (int32_t pe = 0; pe < world.pes; ++pe) {
    exchange.send[pe] = {call.send_offsets[pe] * element, call.send_counts[pe] * element};
    exchange.receive[pe] = {call.receive_offsets[pe] * element, call.receive_counts[pe] * element};
    if (pe != world.pe) exchange.longest_bytes = std::max(exchange.longest_bytes, exchange.send[pe].bytes);
  }
  // PEs do not know each other's counts yet, so all lanes take part.
  return launch_lanes(all_to_allv_chunked, world, stream, lanes_of(world, call), exchange);
}

}  // namespace sparkgap::kernels
