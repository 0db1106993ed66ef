// One block's part in a trip in chunks: the roles of its warps. chunks.cu says what they are.
#ifndef SPARKGAP_COLLECTIVE_ONE_TRIP_CHUNK_LANE_CUH
#define SPARKGAP_COLLECTIVE_ONE_TRIP_CHUNK_LANE_CUH

#include "collective/lanes.cuh"
#include "collective/one_trip/trip.cuh"
#include "protocol/bulk.cuh"
#include "protocol/channel.cuh"
#include "reduce/fold.cuh"

namespace sparkgap::kernels {

constexpr int32_t kWarp = 32;
constexpr int32_t kWarps = kTripThreads / kWarp;
constexpr uint32_t kEveryThread = 0xffffffffu;

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
        channels_(call.trip.world, call.trip.places, call.trip.collective, call.trip.signature),
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
  __device__ uint32_t size_of(uint32_t chunk) const {
    return static_cast<uint32_t>(call_.chunks.size(piece_of(chunk)));
  }
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
  __device__ __forceinline__ void arrived(Copy& copy) {
    const Copy next = after(copy);
    if (next.chunk != copy.chunk) shared_.sent.add(copy.chunk, 1);
    copy = next;
  }

  // By one warp, of which one thread copies and all wait for room.
  __device__ __forceinline__ void send_in_bulk(uint8_t* stages) {
    const BulkPipe pipe(stages, shared_.barriers);
    const bool copies = thread() == 0;
    Copy loading = first_copy(0), storing = loading, arriving = loading;
    uint32_t loaded = 0, stored = 0, told = 0, room = 0;
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
      arrived(arriving);
      ++told;
    }
    if (!copies) return;
    // The stages are in use until all have been read, also where a wait has given up.
#pragma unroll 1
    for (uint32_t number = stored; number < loaded; ++number) pipe.await_load(number);
    pipe.await_stores<0>();
#pragma unroll 1
    for (; told < stored; ++told) arrived(arriving);
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
    uint32_t sent = sends() ? 0 : chunks_;
    uint32_t taken = takes() && trip_.world.pes > 1 ? 0 : chunks_;
#pragma unroll 1
    for (uint32_t polls = 1; sent < chunks_ || taken < chunks_; ++polls) {
      const uint32_t sent_now = sent < chunks_ ? done(shared_.sent, sent, sender_warps()) : sent;
      const uint32_t taken_now = taken < chunks_ ? done(shared_.taken, taken, call_.group_warps) : taken;
      if (sent_now == sent && taken_now == taken) {
        if (polls % kPollsBetweenLooks == 0 && __any_sync(kEveryThread, is_broken())) return;
        continue;
      }
      if (sends_to(peer) && sent_now > sent) __threadfence_system();
      for (uint32_t chunk = sent; sends_to(peer) && chunk < sent_now; ++chunk) {
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

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_ONE_TRIP_CHUNK_LANE_CUH
