// allToAllv: blocks of any size between any two PEs, short ones in packets, others in pieces through slots.
//
// A PE knows only its own counts. So the first packets from each PE to each other say how much is to come and how long
// the PE's longest block is. Short blocks follow in the same trip. From what was said all lanes of all PEs know how
// many steps the others take, and a PE whose counts differ from what its peer sends ends the call before anything is
// written to `out`.
//
//   packets of PE r, from PE q:  | bytes of q's block for r | q's longest block | word 0 of the block | word 1 | ...
//                                                                                 if it is short
//   slot of PE r, step s, from PE q: the piece of q's block for r that starts at p_s * piece_bytes, if the block is
//   not short and has one
//
//   lane l has pieces p_s = l, l + lanes, ... of every block; thread t of the grid words t, t + threads, ...
//
// In place (equal tables) is safe: a thread has sent the words that it takes, and a piece of a block has been written
// to its PE before the same bytes of `out` are. Any alignment.
// Rotation: protocol/scratch.h for packets, protocol/lane.cuh for slots.
#include "collective/lanes.cuh"
#include "collective/one_trip/message.cuh"
#include "sparkgap/device/words.cuh"

namespace sparkgap::kernels {
namespace {

struct Block {
  uint64_t begin;
  uint64_t bytes;
};

struct ExchangeCall {
  Trip trip;
  uint64_t longest_bytes;  // of the blocks that this PE sends to others
  uint64_t short_bytes;    // blocks of so many and fewer are short
  Block send[kMaxPes];
  Block receive[kMaxPes];
};

constexpr uint32_t kHeadPackets = 2;

// Short blocks to all others together: half of what packets carry.
constexpr uint64_t kShortBytes = kPacketBytes / 2;

__device__ bool is_short(const ExchangeCall& call, const Block& block) { return block.bytes <= call.short_bytes; }

__device__ uint32_t first_word() { return blockIdx.x * blockDim.x + threadIdx.x; }

// By elements of four bytes where that can be: the blocks of most tables are aligned to no more.
__device__ uint64_t load_any(const uint8_t* block, uint32_t at, uint32_t bytes) {
  const bool fours = (reinterpret_cast<uint64_t>(block) | bytes) % 4 == 0;
  return fours ? load_word<uint32_t>(block, at, bytes) : load_word<uint8_t>(block, at, bytes);
}
__device__ void store_any(uint8_t* block, uint32_t at, uint32_t bytes, uint64_t bits) {
  const bool fours = (reinterpret_cast<uint64_t>(block) | bytes) % 4 == 0;
  if (fours) {
    store_word<uint32_t>(block, at, bytes, bits);
  } else {
    store_word<uint8_t>(block, at, bytes, bits);
  }
}

__device__ void send_packets(const ExchangeCall& call, const Message& message) {
  const Trip& trip = call.trip;
  const int32_t other = threadIdx.x;
  if (blockIdx.x == 0 && message.is_other(other)) {
    store_packet(message.packets_to(other), call.send[other].bytes, message.stamp());
    store_packet(message.packets_to(other) + 1, call.longest_bytes, message.stamp());
  }
#pragma unroll 1
  for (int32_t distance = 1; distance < trip.world.pes; ++distance) {
    const int32_t peer = trip.neighbour(distance);
    const Block& block = call.send[peer];
    if (!is_short(call, block)) continue;
    const uint32_t bytes = static_cast<uint32_t>(block.bytes);
    Packet* packets = message.packets_to(peer) + kHeadPackets;
#pragma unroll 1
    for (uint32_t word = first_word(); word * kWordBytes < bytes; word += gridDim.x * blockDim.x) {
      store_packet(packets + word, load_any(trip.in + block.begin, word * kWordBytes, bytes), message.stamp());
    }
  }
}

// What the others say, in every block. The length of the longest block of all PEs, or ~0 if the call has to end.
__device__ uint64_t agree_on_length(const ExchangeCall& call, const Message& message) {
  __shared__ uint64_t longest_of[kMaxPes];
  const KernelWorld& world = call.trip.world;
  const int32_t peer = threadIdx.x;
  bool agree = true;
  if (message.is_other(peer)) {
    const Packet* packets = message.packets_from(peer);
    uint64_t bytes = 0;
    agree = receive_packet(world, message.awaited(peer), packets, &bytes) &&
            receive_packet(world, message.awaited(peer), packets + 1, &longest_of[peer]);
    if (agree && bytes != call.receive[peer].bytes) {
      agree = false;
      give_up(world, WaitEnd::kCountsDisagree, message.awaited(peer), call.receive[peer].bytes, bytes);
    }
  }
  if (!__syncthreads_and(agree)) return ~0ull;
  uint64_t longest = call.longest_bytes;
  for (int32_t pe = 0; pe < world.pes; ++pe) {
    if (pe != world.pe) longest = max(longest, longest_of[pe]);
  }
  return longest;
}

// Short blocks, and this PE's own. False if a wait gave up.
__device__ bool take_packets(const ExchangeCall& call, const Message& message) {
  const Trip& trip = call.trip;
#pragma unroll 1
  for (int32_t distance = 0; distance < trip.world.pes; ++distance) {
    const int32_t source = trip.neighbour(distance);
    const Block& block = call.receive[source];
    if (!is_short(call, block)) continue;
    const uint32_t bytes = static_cast<uint32_t>(block.bytes);
    const uint8_t* own = trip.in + call.send[source].begin;
    uint8_t* out = trip.out + block.begin;
    if (source == trip.world.pe && own == out) continue;
#pragma unroll 1
    for (uint32_t word = first_word(); word * kWordBytes < bytes; word += gridDim.x * blockDim.x) {
      uint64_t bits;
      if (source == trip.world.pe) {
        bits = load_any(own, word * kWordBytes, bytes);
      } else if (!receive_packet(trip.world, message.awaited(source),
                                 message.packets_from(source) + kHeadPackets + word, &bits)) {
        return false;
      }
      store_any(out, word * kWordBytes, bytes, bits);
    }
  }
  return true;
}

// How all PEs cut blocks, of which the longest has so many bytes.
__device__ uint64_t piece_bytes(const ExchangeCall& call, uint64_t longest) {
  const uint64_t even = (longest + gridDim.x - 1) / gridDim.x;
  return min(slot_bytes(call.trip.world.pes), (max(even, kLeastPieceBytes) + 15) / 16 * 16);
}

// Of a block that is not short, what there is of it from `from` on, and no more than a piece.
__device__ uint64_t piece_size(const ExchangeCall& call, const Block& block, uint64_t from, uint64_t piece) {
  if (from >= block.bytes || is_short(call, block)) return 0;
  return min(piece, block.bytes - from);
}

// This and what follows is kept out of the way of short blocks, whose time is that of little code.
__device__ __noinline__ void copy_own_block(const ExchangeCall& call) {
  const Block& from = call.send[call.trip.world.pe];
  const Block& to = call.receive[call.trip.world.pe];
  if (call.trip.in + from.begin == call.trip.out + to.begin) return;
  const uint64_t piece = piece_bytes(call, from.bytes);
  for (uint64_t at = blockIdx.x * piece; at < from.bytes; at += gridDim.x * piece) {
    copy_block(call.trip.out + to.begin + at, call.trip.in + from.begin + at, piece_size(call, from, at, piece));
  }
}

__device__ __noinline__ void exchange_pieces(const ExchangeCall& call, uint64_t longest) {
  const Trip& trip = call.trip;
  const uint64_t piece = piece_bytes(call, longest);
  Lane lane(trip.world, trip.collective, trip.signature);
  // The number that it begins with is that of its first step.
  for (uint64_t at = blockIdx.x * piece, steps = 0; at < longest; at += gridDim.x * piece, ++steps) {
    if (steps > 0) lane.next_step();
    for (int32_t i = 1; i < trip.world.pes; ++i) {
      const int32_t peer = lane.neighbour(i);
      const Block& block = call.send[peer];
      copy_block(lane.slot_at_peer(peer), trip.in + block.begin + at, piece_size(call, block, at, piece));
    }
    if (!lane.exchange(0)) return;
    for (int32_t i = 1; i < trip.world.pes; ++i) {
      const int32_t peer = lane.neighbour(i);
      const Block& block = call.receive[peer];
      copy_block(trip.out + block.begin + at, lane.slot_of(peer), piece_size(call, block, at, piece));
    }
  }
  if (blockIdx.x * piece < longest) lane.finish();
}

__global__ void __launch_bounds__(kLaneThreads, kLaneBlocks)
    all_to_allv_chunked(const __grid_constant__ ExchangeCall call) {
  fetch_parameters(call);
  const Message message(call.trip);
  await_kernel_before();
  send_packets(call, message);
  let_next_start();
  const uint64_t longest = agree_on_length(call, message);
  if (longest == ~0ull) return;
  if (!is_short(call, call.send[call.trip.world.pe])) copy_own_block(call);
  const bool took = take_packets(call, message);
  if (longest <= call.short_bytes) return;
  if (!__syncthreads_and(took)) return;
  exchange_pieces(call, longest);
}

}  // namespace

int32_t launch_all_to_allv_chunked(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  static_assert(sizeof(ExchangeCall) <= LaunchCache::kMaxParameterBytes);
  ExchangeCall exchange = {};
  exchange.trip = trip_of(world, call);
  exchange.short_bytes = kShortBytes / others(static_cast<uint64_t>(world.pes));
  const uint64_t element = element_bytes(call.type);
  for (int32_t pe = 0; pe < world.pes; ++pe) {
    exchange.send[pe] = {call.send_offsets[pe] * element, call.send_counts[pe] * element};
    exchange.receive[pe] = {call.receive_offsets[pe] * element, call.receive_counts[pe] * element};
    if (pe != world.pe) exchange.longest_bytes = std::max(exchange.longest_bytes, exchange.send[pe].bytes);
  }
  // PEs do not know each other's counts yet, so all lanes take part.
  const LaunchShape shape = {reinterpret_cast<const void*>(all_to_allv_chunked), lanes_of(world, call), kLaneThreads,
                             exchange.longest_bytes > kMostBytesAlone, 0};
  return enqueue(world, stream, shape, &exchange, sizeof exchange);
}

}  // namespace sparkgap::kernels
