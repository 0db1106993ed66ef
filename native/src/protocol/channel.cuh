// A channel: one lane's stream of chunks from one PE to another, through a ring of slots in the receiver's scratch.
// Chunks of a channel are numbered from 1 on, through all calls; chunk n is in slot n % kChannelSlots.
//
//   sender                                              receiver
//   waits until chunk n - kChannelSlots is taken
//   writes chunk n into its slot
//   when it has arrived, the mark: {n, signature} --->  waits for exactly that mark
//                                                       reads the slot
//                                                 <---  taken = n
//
// Nothing else paces the two: a sender may be as many chunks ahead as there are slots, also into the next call, and no
// call ends with a round of waiting.
//
// Within a block the warps have roles (collective/one_trip/chunks.cu), and tell each other by counting in shared memory
// how far they are with a chunk: Progress.
#ifndef SPARKGAP_PROTOCOL_CHANNEL_CUH
#define SPARKGAP_PROTOCOL_CHANNEL_CUH

#include "protocol/wait.cuh"
#include "sparkgap/device/packet.cuh"

namespace sparkgap::kernels {

// Which chunks all warps of a role are done with, in shared memory. No warp is kChannelSlots chunks ahead of another,
// so a count for each slot suffices.
class Progress {
 public:
  __device__ void clear() {
    if (threadIdx.x < kChannelSlots) counts_[threadIdx.x] = 0;
  }

  // One warp is done with chunk `chunk` of the call; of a warp, after its threads have met.
  __device__ void add(uint64_t chunk, uint32_t warps) {
    __threadfence_block();
    atomicAdd(&counts_[chunk % kChannelSlots], warps);
  }

  __device__ bool done(uint64_t chunk, uint32_t warps) const {
    const uint32_t count = *const_cast<const volatile uint32_t*>(&counts_[chunk % kChannelSlots]);
    return count >= warps * (static_cast<uint32_t>(chunk / kChannelSlots) + 1);
  }

 private:
  uint32_t counts_[kChannelSlots];
};

class Channels {
 public:
  __device__ Channels(const KernelWorld& world, const Places& places, int32_t collective, uint32_t signature)
      : world_(world), places_(places), collective_(collective), signature_(signature) {}

  // Where this PE writes chunk `number` for `peer`, and where it finds that of `source`.
  __device__ uint8_t* slot_at_peer(int32_t peer, uint32_t number) const {
    return scratch_of(world_, peer) + places_.slot(blockIdx.x, peer, world_.pe, number % kChannelSlots);
  }
  __device__ const uint8_t* slot_of(int32_t source, uint32_t number) const {
    return scratch_of(world_, world_.pe) + places_.slot(blockIdx.x, world_.pe, source, number % kChannelSlots);
  }

  // False if a wait gave up. *taken: the last chunk that the peer is known to have taken.
  __device__ __forceinline__ bool await_room(int32_t peer, uint32_t number, uint32_t* taken) const {
    const uint32_t* word =
        reinterpret_cast<const uint32_t*>(scratch_of(world_, world_.pe) + taken_at(blockIdx.x, peer));
    const uint32_t least = number - static_cast<uint32_t>(kChannelSlots);
    const Awaited awaited = {collective_, peer, static_cast<int32_t>(blockIdx.x), least, signature_};
    return wait_until(world_, awaited, [&](Seen* seen) {
      *seen = {load_volatile(word), signature_};
      *taken = seen->number;
      return static_cast<int32_t>(*taken - least) >= 0;
    });
  }

  __device__ __forceinline__ bool await_chunk(int32_t source, uint32_t number) const {
    const ChunkMark* mark = mark_at(world_.pe, source, number);
    const Awaited awaited = {collective_, source, static_cast<int32_t>(blockIdx.x), number, signature_};
    return wait_until(world_, awaited, [&](Seen* seen) {
      const uint64_t word = *reinterpret_cast<const volatile uint64_t*>(mark);
      *seen = {static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32)};
      return seen->number == number && seen->signature == signature_;
    });
  }

  // Once the chunk has arrived: behind its copy's completion and a fence for the whole system.
  __device__ void mark_sent(int32_t peer, uint32_t number) const {
    *reinterpret_cast<volatile uint64_t*>(mark_at(peer, world_.pe, number)) =
        static_cast<uint64_t>(signature_) << 32 | number;
  }
  // Once the chunk has been read: what was made of it has been stored, so its loads have ended.
  __device__ void mark_taken(int32_t source, uint32_t number) const {
    *reinterpret_cast<volatile uint32_t*>(scratch_of(world_, source) + taken_at(blockIdx.x, world_.pe)) = number;
  }

 private:
  __device__ ChunkMark* mark_at(int32_t at, int32_t source, uint32_t number) const {
    return reinterpret_cast<ChunkMark*>(scratch_of(world_, at) +
                                        arrival_at(blockIdx.x, source, number % kChannelSlots));
  }

  const KernelWorld& world_;
  const Places& places_;
  const int32_t collective_;
  const uint32_t signature_;
};

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_PROTOCOL_CHANNEL_CUH
