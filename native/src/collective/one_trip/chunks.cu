// One trip in chunks: for messages that keep the link busy for long.
//
// The message goes through channels (protocol/channel.cuh), many chunks on their way at once, and nothing else is on the
// link: data once, and 12 bytes for each chunk. The warps of a block have roles, so that none of them stands still for
// what another one has to wait for:
//
//   sender       waits for room at the peers, copies chunk k into their slots, marks it when it has arrived
//   taker warps  in groups, each for every so many-th chunk: wait for its marks, add or copy it into `out`
//   post warp    tells the peers what has been taken, in order
//
//   message      | chunk 0 | chunk 1 | ...        lane l has chunks l, l + lanes, ...
//
// The sender is one thread that moves chunks by bulk copies, through shared memory, from compute capability 9.0 on and for
// messages aligned to 16 bytes: it knows when each has arrived, and needs so little of a multiprocessor that 16 of these
// are enough for the link. Elsewhere it is some warps; then the post warp marks their chunks, behind its fence. Peers need
// not agree on that.
//
// In place: a taker writes chunk k only after this block's sender is done with its chunk k.
#include "collective/lanes.cuh"
#include "collective/one_trip/trip.cuh"
#include "protocol/bulk.cuh"
#include "protocol/channel.cuh"
#include "reduce/fold.cuh"

namespace sparkgap::kernels {
namespace {

constexpr int32_t kWarp = 32;
constexpr int32_t kWarps = kTripThreads / kWarp;
constexpr uint32_t kEveryThread = 0xffffffffu;

// Sender warps where the shape has none and there are no bulk copies.
constexpr uint32_t kPlainSenders = 6;

struct ChunksCall {
  Trip trip;
  Pieces chunks;
  uint32_t senders;      // warps; 0: one thread by bulk copies, of which `pending` may be on their way
  uint32_t pending;      // 1, 3 or 6
  uint32_t group_warps;  // of each group of takers
  uint32_t groups;
};

// What the warps of a block share.
struct Shared {
  Progress sent;
  Progress taken;
  uint32_t sent_before[kMaxPes];  // numbers of the last chunks of earlier calls
  uint32_t received_before[kMaxPes];
  uint64_t barriers[kBulkStages];
  Fold folds[kWarps];
};

// One block's part in a call.
class ChunkLane {
 public:
  __device__ __forceinline__ ChunkLane(const ChunksCall& call, Shared& shared)
      : call_(call),
        trip_(call.trip),
        shared_(shared),
        channels_(call.trip.world, call.trip.collective, call.trip.signature),
        chunks_(chunks_of_lane(call.chunks)) {
    meet_launch_order();
    shared_.sent.clear();
    shared_.taken.clear();
    const Counters* counters = counters_of(trip_.world);
    if (threadIdx.x < static_cast<uint32_t>(trip_.world.pes)) {
      shared_.sent_before[threadIdx.x] = load_volatile(&counters->sent[blockIdx.x][threadIdx.x]);
      shared_.received_before[threadIdx.x] = load_volatile(&counters->received[blockIdx.x][threadIdx.x]);
    }
    __syncthreads();
  }

  // take(team, chunk): what becomes of a chunk that has come, by one group of takers.
  template <class Take>
  __device__ __forceinline__ void run(uint8_t* stages, Take take) {
    const uint32_t warp = threadIdx.x / kWarp;
    if (warp == 0) {
      post();
    } else if (warp <= sender_warps()) {
      if (sends() && call_.senders == 0) send_in_bulk(stages);
      if (sends() && call_.senders != 0) send(warp - 1);
    } else if (warp - 1 - sender_warps() < call_.groups * call_.group_warps) {
      take_all(warp - 1 - sender_warps(), take);
    }
    finish();
  }

  __device__ uint64_t begin_of(uint32_t chunk) const { return call_.chunks.begin(piece_of(chunk)); }
  __device__ uint32_t size_of(uint32_t chunk) const { return static_cast<uint32_t>(call_.chunks.size(piece_of(chunk))); }
  // Where chunk `chunk` of `pe` is here.
  __device__ const uint8_t* from(int32_t pe, uint32_t chunk) const {
    return pe == trip_.world.pe ? trip_.message_for(pe) + begin_of(chunk)
                                : channels_.slot_of(pe, shared_.received_before[pe] + chunk + 1);
  }
  __device__ Fold& fold_of_warp() const { return shared_.folds[threadIdx.x / kWarp]; }

 private:
  static __device__ uint32_t chunks_of_lane(const Pieces& chunks) {
    const uint64_t all = (chunks.total + chunks.piece_bytes - 1) / chunks.piece_bytes;
    return blockIdx.x < all ? static_cast<uint32_t>((all - blockIdx.x + gridDim.x - 1) / gridDim.x) : 0;
  }

  __device__ uint64_t piece_of(uint32_t chunk) const { return blockIdx.x + uint64_t{chunk} * gridDim.x; }
  __device__ uint32_t thread() const { return threadIdx.x % kWarp; }
  __device__ uint32_t sender_warps() const { return call_.senders == 0 ? 1 : call_.senders; }
  __device__ bool is_other(int32_t pe) const { return pe < trip_.world.pes && pe != trip_.world.pe; }
  __device__ bool sends_to(int32_t pe) const { return is_other(pe) && trip_.has_data(trip_.world.pe, pe); }
  __device__ bool gets_from(int32_t pe) const { return is_other(pe) && trip_.has_data(pe, trip_.world.pe); }
  __device__ bool sends() const {
    return trip_.world.pes > 1 && trip_.sends(trip_.world.pe) && (trip_.receivers & ~(1u << trip_.world.pe)) != 0;
  }
  __device__ bool takes() const { return trip_.takes(trip_.world.pe); }
  __device__ bool is_broken() const { return load_volatile(&counters_of(trip_.world)->broken) != 0; }

  __device__ uint32_t number_for(int32_t peer, uint32_t chunk) const { return shared_.sent_before[peer] + chunk + 1; }

  // A warp together: until all peers have room for the chunk. *room: the first chunk for which one may have none.
  __device__ __forceinline__ bool await_room(uint32_t chunk, uint32_t* room) const {
    const int32_t peer = static_cast<int32_t>(thread());
    bool came = true;
    uint32_t free = ~0u;
    if (sends_to(peer)) {
      uint32_t taken = 0;
      came = channels_.await_room(peer, number_for(peer, chunk), &taken);
      free = taken + static_cast<uint32_t>(kChannelSlots) - shared_.sent_before[peer];
    }
    *room = __reduce_min_sync(kEveryThread, free);
    return __all_sync(kEveryThread, came);
  }

  __device__ __forceinline__ void send(uint32_t warp) {
    const Team team = {warp * kWarp + thread(), call_.senders * kWarp};
    uint32_t room = 0;
#pragma unroll 1
    for (uint32_t chunk = 0; chunk < chunks_; ++chunk) {
      if (chunk >= room && !await_room(chunk, &room)) return;
      __syncwarp();
#pragma unroll 1
      for (int32_t distance = 1; distance < trip_.world.pes; ++distance) {
        const int32_t peer = trip_.neighbour(distance);
        if (!sends_to(peer)) continue;
        copy_by(team, channels_.slot_at_peer(peer, number_for(peer, chunk)), trip_.message_for(peer) + begin_of(chunk),
                size_of(chunk));
      }
      __syncwarp();
      if (thread() == 0) shared_.sent.add(chunk, 1);
    }
  }

#if __CUDA_ARCH__ >= 900
  // One after the other, what is to go by bulk copies: each chunk to each peer.
  struct Copy {
    uint32_t chunk;
    int32_t distance;
  };
  __device__ Copy first_copy(uint32_t chunk) const {
    int32_t distance = 1;
    while (!sends_to(trip_.neighbour(distance))) ++distance;
    return {chunk, distance};
  }
  __device__ Copy after(const Copy& copy) const {
    for (int32_t distance = copy.distance + 1; distance < trip_.world.pes; ++distance) {
      if (sends_to(trip_.neighbour(distance))) return {copy.chunk, distance};
    }
    return first_copy(copy.chunk + 1);
  }

  // A chunk has arrived at a peer.
  __device__ __forceinline__ void mark(Copy& copy) {
    const int32_t peer = trip_.neighbour(copy.distance);
    channels_.mark_sent(peer, number_for(peer, copy.chunk));
    const Copy next = after(copy);
    if (next.chunk != copy.chunk) shared_.sent.add(copy.chunk, 1);
    copy = next;
  }

  // By one warp, of which one thread copies and all wait for room.
  __device__ __forceinline__ void send_in_bulk(uint8_t* stages) {
    const BulkPipe pipe(stages, shared_.barriers);
    const bool copies = thread() == 0;
    Copy loading = first_copy(0), storing = loading, arriving = loading;
    uint32_t loaded = 0, stored = 0, marked = 0, room = 0;
    const auto load = [&] {
      if (loading.chunk >= chunks_) return;
      const uint8_t* from = trip_.message_for(trip_.neighbour(loading.distance)) + begin_of(loading.chunk);
      if (copies) pipe.load(loaded, from, size_of(loading.chunk));
      ++loaded;
      loading = after(loading);
    };
    if (copies) pipe.start();
#pragma unroll 1
    for (uint32_t i = 0; i + 1 < kBulkStages; ++i) load();
#pragma unroll 1
    for (; storing.chunk < chunks_; ++stored) {
      if (storing.chunk >= room && !await_room(storing.chunk, &room)) break;
      const int32_t peer = trip_.neighbour(storing.distance);
      if (copies) {
        pipe.await_load(stored);
        pipe.store(stored, channels_.slot_at_peer(peer, number_for(peer, storing.chunk)), size_of(storing.chunk));
        pipe.await_read();
      }
      storing = after(storing);
      load();
      if (!copies || stored < call_.pending) continue;
      await_all_but_pending(pipe);
      mark(arriving);
      ++marked;
    }
    if (!copies) return;
    // The stages are in use until all have been read, also where a wait has given up.
#pragma unroll 1
    for (uint32_t number = stored; number < loaded; ++number) pipe.await_load(number);
    pipe.await_stores<0>();
#pragma unroll 1
    for (; marked < stored; ++marked) mark(arriving);
  }

  __device__ __forceinline__ void await_all_but_pending(const BulkPipe& pipe) const {
    if (call_.pending == 1) {
      pipe.await_stores<1>();
    } else if (call_.pending == 3) {
      pipe.await_stores<3>();
    } else {
      pipe.await_stores<6>();
    }
  }
#else
  __device__ void send_in_bulk(uint8_t*) {}
#endif

  template <class Take>
  __device__ __forceinline__ void take_all(uint32_t warp, Take take) {
    if (!takes()) return;
    const Team team = {warp % call_.group_warps * kWarp + thread(), call_.group_warps * kWarp};
    const int32_t source = static_cast<int32_t>(thread());
#pragma unroll 1
    for (uint32_t chunk = warp / call_.group_warps; chunk < chunks_; chunk += call_.groups) {
      const bool came =
          !gets_from(source) || channels_.await_chunk(source, shared_.received_before[source] + chunk + 1);
      if (!__all_sync(kEveryThread, came)) return;
      if (sends() && !await_sent(chunk)) return;
      __syncwarp();
      take(team, chunk);
      __syncwarp();
      if (thread() == 0) shared_.taken.add(chunk, 1);
    }
  }

  __device__ __forceinline__ bool await_sent(uint32_t chunk) const {
    const uint32_t warps = sender_warps();
    for (uint32_t polls = 1; !shared_.sent.done(chunk, warps); ++polls) {
      if (polls % kPollsBetweenLooks == 0 && is_broken()) return false;
    }
    return true;
  }

  // How many chunks are done, of which `from` were before.
  __device__ __forceinline__ uint32_t done(const Progress& progress, uint32_t from, uint32_t warps) const {
    uint32_t chunk = from;
    while (chunk < chunks_ && progress.done(chunk, warps)) ++chunk;
    return __shfl_sync(kEveryThread, chunk, 0);
  }

  __device__ __forceinline__ void post() {
    const int32_t peer = static_cast<int32_t>(thread());
    const bool marks = sends_to(peer) && call_.senders != 0;
    uint32_t sent = sends() && call_.senders != 0 ? 0 : chunks_;
    uint32_t taken = takes() && trip_.world.pes > 1 ? 0 : chunks_;
#pragma unroll 1
    for (uint32_t polls = 1; sent < chunks_ || taken < chunks_; ++polls) {
      const uint32_t sent_now = sent < chunks_ ? done(shared_.sent, sent, call_.senders) : sent;
      const uint32_t taken_now = taken < chunks_ ? done(shared_.taken, taken, call_.group_warps) : taken;
      if (sent_now == sent && taken_now == taken) {
        if (polls % kPollsBetweenLooks == 0 && __any_sync(kEveryThread, is_broken())) return;
        continue;
      }
      if (marks && sent_now > sent) __threadfence_system();
      for (uint32_t chunk = sent; marks && chunk < sent_now; ++chunk) {
        channels_.mark_sent(peer, number_for(peer, chunk));
      }
      if (gets_from(peer) && taken_now > taken) {
        channels_.mark_taken(peer, shared_.received_before[peer] + taken_now);
      }
      sent = sent_now;
      taken = taken_now;
      __syncwarp();
    }
  }

  __device__ __forceinline__ void finish() const {
    __syncthreads();
    Counters* counters = counters_of(trip_.world);
    const int32_t pe = static_cast<int32_t>(threadIdx.x);
    if (pe >= trip_.world.pes) return;
    if (sends_to(pe)) counters->sent[blockIdx.x][pe] = shared_.sent_before[pe] + chunks_;
    if (gets_from(pe)) counters->received[blockIdx.x][pe] = shared_.received_before[pe] + chunks_;
  }

  const ChunksCall& call_;
  const Trip& trip_;
  Shared& shared_;
  const Channels channels_;
  const uint32_t chunks_;
};

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
  lane.run(stages, [&](const Team& team, uint32_t chunk) { fold_chunk<Element, Operation>(call.trip, team, chunk, lane); });
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

int32_t launch_chunks(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  ChunksCall chunks = {};
  chunks.trip = trip_of(world, call);
  const uint64_t most = std::min<uint64_t>(call.shape.chunk_bytes, channel_slot_bytes(world.pes));
  // As many chunks for each lane, as long as each other.
  const uint64_t blocks = static_cast<uint64_t>(std::min(call.shape.blocks, world.wide_lanes));
  const uint64_t rounds = std::max<uint64_t>(1, (chunks.trip.bytes + blocks * most - 1) / (blocks * most));
  const uint64_t even = (chunks.trip.bytes + blocks * rounds - 1) / (blocks * rounds);
  const int32_t lanes =
      cut(chunks.trip.bytes, std::min(most, std::max(even, std::min(most, kLeastPieceBytes))), static_cast<int32_t>(blocks), &chunks.chunks);
  const bool bulk = call.shape.senders == 0 && can_be_in_bulk(chunks.trip);
  chunks.senders = bulk ? 0 : call.shape.senders == 0 ? kPlainSenders : static_cast<uint32_t>(call.shape.senders);
  chunks.pending = pending_for(lanes);
  const uint32_t takers = kWarps - 1 - (bulk ? 1 : chunks.senders);
  chunks.groups = std::min(takers, static_cast<uint32_t>(std::max(1, call.shape.groups)));
  chunks.group_warps = takers / chunks.groups;
  const Kernel function = adds(call.collective) ? kFolds[call.type][call.op] : chunks_copy;
  const void* kernel = reinterpret_cast<const void*>(function);
  const LaunchShape launch = {kernel, lanes, kTripThreads, true, bulk ? kBulkBytes : 0};
  if (bulk) {
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBulkBytes);
    if (error != cudaSuccess) return error;
  }
  static_assert(sizeof(ChunksCall) <= LaunchCache::kMaxParameterBytes);
  return enqueue(world, stream, launch, &chunks, sizeof chunks);
}

}  // namespace sparkgap::kernels
