// One trip in chunks: for messages that keep the link busy for long.
//
// The message goes through channels (protocol/channel.cuh), many chunks on their way at once, and nothing else is on
// the link: data once, and 12 bytes for each chunk. The warps of a block have roles, so that none of them stands still
// for what another one has to wait for:
//
//   sender       waits for room at the peers, copies chunk k into their slots
//   taker warps  in groups, each for every so many-th chunk: wait for its marks, add or copy it into `out`
//   post warp    marks what has been sent, behind a fence, and tells the peers what has been taken, in order
//
//   message      | chunk 0 | chunk 1 | ...        lane l has chunks l, l + lanes, ...
//
// The sender is one thread that moves chunks by bulk copies, through shared memory, from compute capability 9.0 on and
// for messages aligned to 16 bytes; elsewhere it is some warps. Peers need not agree on that. A fence lasts
// microseconds while others of the block store; so it is the post warp that stands at it, and one fence serves all
// chunks that are ready.
//
// In place: a taker writes chunk k only after this block's sender is done with its chunk k.
#include "collective/one_trip/chunk_lane.cuh"

namespace sparkgap::kernels {
namespace {

// Sender warps where the shape has none and there are no bulk copies.
constexpr uint32_t kPlainSenders = 4;

template <class Element, class Operation>
__device__ __forceinline__ void fold_chunk(const Trip& trip, const Team& team, uint32_t chunk, const ChunkLane& lane) {
  const uint32_t count = lane.size_of(chunk) / sizeof(typename Element::Stored);
  uint8_t* to = trip.out + lane.begin_of(chunk);
  const int32_t pes = trip.world.pes;
  if (pes == 2) {
    fold_pair<Element, Operation>(to, lane.from(0, chunk), lane.from(1, chunk), count, trip.divisor, team.thread,
                                  team.threads);
    return;
  }
  Fold& fold = lane.fold_of_warp();
  const int32_t pe = static_cast<int32_t>(threadIdx.x) % kWarp;
  if (pe < pes) fold.from[pe] = lane.from(pe, chunk);
  if (pe == 0) {
    const uint64_t own = reinterpret_cast<uint64_t>(trip.message_for(trip.world.pe) + lane.begin_of(chunk));
    fold.to[0] = to;
    fold.pes = pes;
    fold.targets = 1;
    fold.count = count;
    fold.divisor = trip.divisor;
    fold.vectors = (reinterpret_cast<uint64_t>(to) | own) % sizeof(uint4) == 0;
  }
  __syncwarp();
  fold_shared<Element>(team.thread, team.threads, &fold, trip.op);
}

template <class Element, class Operation>
__global__ void __launch_bounds__(kTripThreads) chunks_fold(const __grid_constant__ ChunksCall call) {
  extern __shared__ __align__(128) uint8_t stages[];
  __shared__ Shared shared;
  ChunkLane lane(call, shared);
  lane.run(stages,
           [&](const Team& team, uint32_t chunk) { fold_chunk<Element, Operation>(call.trip, team, chunk, lane); });
}

__global__ void __launch_bounds__(kTripThreads) chunks_copy(const __grid_constant__ ChunksCall call) {
  extern __shared__ __align__(128) uint8_t stages[];
  __shared__ Shared shared;
  const Trip& trip = call.trip;
  ChunkLane lane(call, shared);
  lane.run(stages, [&](const Team& team, uint32_t chunk) {
#pragma unroll 1
    for (int32_t distance = 0; distance < trip.world.pes; ++distance) {
      const int32_t source = trip.neighbour(distance);
      if (!trip.has_data(source, trip.world.pe)) continue;
      uint8_t* to = trip.place_of(source) + lane.begin_of(chunk);
      const uint8_t* from = lane.from(source, chunk);
      if (to != from) copy_by(team, to, from, lane.size_of(chunk));
    }
  });
}

using Kernel = void (*)(ChunksCall);

// By SPARKGAP_SUM, PROD, MIN, MAX, AVG.
template <class Element>
constexpr Kernel kOperations[SPARKGAP_OPS] = {chunks_fold<Element, Sum>, chunks_fold<Element, Product>,
                                              chunks_fold<Element, Minimum>, chunks_fold<Element, Maximum>,
                                              chunks_fold<Element, Sum>};

#define SPARKGAP_OPERATIONS_OF(Element) kOperations<Element>
constexpr const Kernel* kFolds[SPARKGAP_TYPES] = SPARKGAP_FOR_EACH_ELEMENT(SPARKGAP_OPERATIONS_OF);
#undef SPARKGAP_OPERATIONS_OF

bool can_be_in_bulk(const Trip& trip) {
  const uint64_t together = reinterpret_cast<uint64_t>(trip.in) | trip.bytes | trip.in_stride;
  return trip.world.compute_major >= 9 && together % kBulkAlignment == 0;
}

// How many bulk copies a block has to have on their way so that all blocks together fill the link.
uint32_t pending_for(int32_t blocks) { return blocks >= 40 ? 1 : blocks >= 12 ? 3 : 6; }

}  // namespace

int32_t prepare_chunks() {
  const auto prepare = [](Kernel kernel) {
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                kBulkBytes);
  };
  cudaError_t error = prepare(chunks_copy);
  for (const Kernel* operations : kFolds) {
    for (int32_t op = 0; op < SPARKGAP_OPS && error == cudaSuccess; ++op) error = prepare(operations[op]);
  }
  return error;
}

int32_t launch_chunks(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  ChunksCall chunks = {};
  chunks.trip = trip_of(world, call);
  const uint64_t most = std::min<uint64_t>(call.shape.chunk_bytes, channel_slot_bytes(world.pes));
  // As many chunks for each lane, as long as each other.
  const uint64_t blocks = static_cast<uint64_t>(std::min(call.shape.blocks, world.lanes));
  const uint64_t rounds = std::max<uint64_t>(1, (chunks.trip.bytes + blocks * most - 1) / (blocks * most));
  const uint64_t even = (chunks.trip.bytes + blocks * rounds - 1) / (blocks * rounds);
  const int32_t lanes = cut(chunks.trip.bytes, std::min(most, std::max(even, std::min(most, kLeastPieceBytes))),
                            static_cast<int32_t>(blocks), &chunks.chunks);
  const bool bulk = call.shape.senders == 0 && can_be_in_bulk(chunks.trip);
  chunks.senders = bulk ? 0 : call.shape.senders == 0 ? kPlainSenders : static_cast<uint32_t>(call.shape.senders);
  chunks.pending = pending_for(lanes);
  const uint32_t takers = kWarps - 1 - (bulk ? 1 : chunks.senders);
  chunks.groups = std::min(takers, static_cast<uint32_t>(std::max(1, call.shape.groups)));
  chunks.group_warps = takers / chunks.groups;
  const Kernel function = description_of(call).has_op ? kFolds[call.type][call.op] : chunks_copy;
  const void* kernel = reinterpret_cast<const void*>(function);
  const LaunchShape launch = {kernel, lanes, kTripThreads, true, bulk ? kBulkBytes : 0};
  static_assert(sizeof(ChunksCall) <= LaunchCache::kMaxParameterBytes);
  return enqueue(world, stream, launch, &chunks, sizeof chunks);
}

}  // namespace sparkgap::kernels
