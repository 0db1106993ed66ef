// What one block of each PE does together.
#ifndef SPARKGAP_DEVICE_BLOCK_CUH
#define SPARKGAP_DEVICE_BLOCK_CUH

#include <type_traits>

#include "sparkgap/device/copy.cuh"
#include "sparkgap/device/exchange.h"
#include "sparkgap/device/one_sided.cuh"
#include "sparkgap/device/words.cuh"

namespace sparkgap::device {

// Besides Sum, Product, Minimum and Maximum (device/elements.cuh). Sums run in PE order, so all PEs hold the same bits.
struct Average : Sum {};

// The types that are reduced: float, double, signed char, unsigned char, int32_t and int64_t by their own names, and
// Float16 and Bfloat16, whose sums are made in float, for whatever type the caller keeps them in.
template <class Element>
inline constexpr uint32_t kElementNumber = 0;
template <class T>
inline constexpr uint32_t kElementNumber<Plain<T>> =
    sizeof(T) * 4 + (kIsReal<T> ? 2 : 0) + (std::is_signed_v<T> ? 1 : 0);
template <>
inline constexpr uint32_t kElementNumber<Float16> = 1;
template <>
inline constexpr uint32_t kElementNumber<Bfloat16> = 2;

template <class Operation>
inline constexpr uint32_t kOperationNumber = 0;
template <>
inline constexpr uint32_t kOperationNumber<Sum> = 1;
template <>
inline constexpr uint32_t kOperationNumber<Product> = 2;
template <>
inline constexpr uint32_t kOperationNumber<Minimum> = 3;
template <>
inline constexpr uint32_t kOperationNumber<Maximum> = 4;
template <>
inline constexpr uint32_t kOperationNumber<Average> = 5;

// One block of each PE, by a channel that all give alike: 0 to kChannels - 1. What it has done goes on in the next
// kernel that uses the channel.
class Block {
 public:
  __device__ __forceinline__ Block(const sparkgap_device_world& world, uint32_t channel)
      : world_(world),
        channel_(channel),
        thread_(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)),
        threads_(blockDim.x * blockDim.y * blockDim.z),
        packets_(channel_packets(static_cast<uint32_t>(world.pes))),
        fine_(world.layout == SPARKGAP_DEVICE_LAYOUT) {
    if (fine_ && channel >= kChannels) {
      if (thread_ == 0) give_up(world, WaitEnd::kNoSuchChannel, awaited(kWaitBlocks, -1, {}), kChannels, channel);
      fine_ = false;
    }
    __syncthreads();
    if (fine_) number_ = load_volatile(&state()->number);
  }

  __device__ const sparkgap_device_world& world() const { return world_; }

  // ---- Collectives

  // out[i] = in[i] of all PEs, added up or whatever the operation is. `in` is what the block's threads have written;
  // `out` is seen by all of them afterwards. out == in, or the two do not overlap. A message of any size and alignment;
  // one block is fastest below some 8 KiB.
  template <class Element, class Operation = Sum>
  __device__ __forceinline__ bool all_reduce(const void* in, void* out, uint64_t count) {
    using Stored = typename Element::Stored;
    const int32_t divisor = std::is_same_v<Operation, Average> ? world_.pes : 0;
    const auto* from = static_cast<const uint8_t*>(in);
    auto* to = static_cast<uint8_t*>(out);
    const uint32_t kind = kElementNumber<Element> * 8 + kOperationNumber<Operation>;
    return exchange<Stored>(from, count * sizeof(Stored), SPARKGAP_ALL_REDUCE, kind,
                            [&](uint64_t begin, uint32_t bytes, uint32_t word, const Stamp& stamp) {
                              const uint64_t own = load_word<Stored>(from + begin, word * kWordBytes, bytes);
                              WordSum<Element> sum;
#pragma unroll 1
                              for (int32_t pe = 0; pe < world_.pes; ++pe) {
                                uint64_t bits = own;
                                if (pe != world_.pe && !receive(SPARKGAP_ALL_REDUCE, pe, word, stamp, &bits))
                                  return false;
                                if (pe == 0) {
                                  sum.start(bits);
                                } else {
                                  sum.template add<Operation>(bits);
                                }
                              }
                              store_word<Stored>(to + begin, word * kWordBytes, bytes, sum.result(divisor));
                              return true;
                            });
  }
  template <class T, class Operation = Sum>
  __device__ __forceinline__ bool all_reduce(const T* in, T* out, uint64_t count) {
    return all_reduce<Plain<T>, Operation>(static_cast<const void*>(in), static_cast<void*>(out), count);
  }

  // Elements [p * count, (p + 1) * count) of `out` = `in` of PE p. In place where in == out + pe * count.
  template <class T>
  __device__ __forceinline__ bool all_gather(const T* in, T* out, uint64_t count) {
    return gather(reinterpret_cast<const uint8_t*>(in), reinterpret_cast<uint8_t*>(out), count * sizeof(T),
                  count * sizeof(T));
  }

  // All that the block has written before, and put, is seen by the same block of each PE afterwards.
  __device__ __forceinline__ bool barrier() {
    const Stamp stamp = begin(SPARKGAP_BARRIER, 0, 0);
    if (!fine_) return false;
    const auto first = static_cast<int32_t>(thread_);
    const auto step = static_cast<int32_t>(threads_);
    if (first < world_.pes) __threadfence_system();
    for (int32_t pe = first; pe < world_.pes; pe += step) {
      if (pe != world_.pe) store_packet(packets(pe, world_.pe, stamp), 0, stamp);
    }
    bool came = true;
    for (int32_t pe = first; came && pe < world_.pes; pe += step) {
      if (pe == world_.pe) continue;
      uint64_t nothing;
      came = receive(SPARKGAP_BARRIER, pe, 0, stamp, &nothing);
      load_acquire(&packets(world_.pe, pe, stamp)->number);
    }
    return end(came);
  }

  // ---- One-sided; ranges are not checked

  // Copies into memory of a peer (peer_address), or of this PE. It may still be under way afterwards: a signal, a
  // barrier or a fence comes behind it.
  __device__ __forceinline__ void put(void* to, const void* from, uint64_t bytes) const {
    __syncthreads();
    copy(to, from, bytes);
  }

  // Behind all that the block has written before; see device/one_sided.cuh.
  __device__ __forceinline__ void signal(int64_t* word, int64_t value) const {
    __syncthreads();
    if (thread_ == 0) device::signal(word, value);
  }
  __device__ __forceinline__ void signal_add(int64_t* word, int64_t delta) const {
    __syncthreads();
    if (thread_ == 0) device::signal_add(word, delta);
  }

  // A put, and the signal that it has arrived.
  __device__ __forceinline__ void put_signal(void* to, const void* from, uint64_t bytes, int64_t* word,
                                             int64_t value) const {
    put(to, from, bytes);
    signal(word, value);
  }

  // The whole block waits until `word`, of this PE's memory, compares true with `value` (SPARKGAP_EQ...), and sees then
  // what was written before the signal.
  __device__ __forceinline__ bool wait(const int64_t* word, int32_t comparison, int64_t value) {
    __syncthreads();
    const bool waits = fine_ && thread_ == 0;
    return end(fine_ && (!waits || device::wait(world_, word, comparison, value, static_cast<int32_t>(channel_))));
  }

 private:
  friend class Grid;

  // An all-gather of messages that are `stride` apart in `out`.
  __device__ __forceinline__ bool gather(const uint8_t* in, uint8_t* out, uint64_t bytes, uint64_t stride) {
    return exchange<uint8_t>(in, bytes, SPARKGAP_ALL_GATHER, 0,
                             [&](uint64_t begin, uint32_t part, uint32_t word, const Stamp& stamp) {
#pragma unroll 1
                               for (int32_t pe = 0; pe < world_.pes; ++pe) {
                                 uint8_t* const to = out + static_cast<uint64_t>(pe) * stride;
                                 uint64_t bits;
                                 if (pe == world_.pe) {
                                   if (to == in) continue;
                                   bits = load_word<uint8_t>(in + begin, word * kWordBytes, part);
                                 } else if (!receive(SPARKGAP_ALL_GATHER, pe, word, stamp, &bits)) {
                                   return false;
                                 }
                                 store_word<uint8_t>(to + begin, word * kWordBytes, part, bits);
                               }
                               return true;
                             });
  }

  // Sends `in` to every other PE, as much at a time as a channel holds, and lets take(begin, bytes, word, stamp) have
  // each word of such a part of `bytes` from `begin` on; it is false if a wait gave up. A thread takes the words that
  // it has sent, so in place is as good as out of place.
  template <class Stored, class Take>
  __device__ __forceinline__ bool exchange(const uint8_t* in, uint64_t bytes, int32_t collective, uint32_t kind,
                                           Take take) {
    const uint64_t most = packets_ * kWordBytes;
#pragma unroll 1
    for (uint64_t from = 0; from < bytes; from += most) {
      const auto part = static_cast<uint32_t>(bytes - from < most ? bytes - from : most);
      const Stamp stamp = begin(collective, kind, bytes);
      if (!fine_) return false;
#pragma unroll 1
      for (uint32_t word = thread_; word * kWordBytes < part; word += threads_) {
        const uint64_t bits = load_word<Stored>(in + from, static_cast<uint32_t>(word * kWordBytes), part);
#pragma unroll 1
        for (int32_t distance = 1; distance < world_.pes; ++distance) {
          const int32_t next = world_.pe + distance;
          const int32_t peer = next < world_.pes ? next : next - world_.pes;
          store_packet(packets(peer, world_.pe, stamp) + word, bits, stamp);
        }
      }
      bool came = true;
#pragma unroll 1
      for (uint32_t word = thread_; came && word * kWordBytes < part; word += threads_) {
        came = take(from, part, word, stamp);
      }
      if (!end(came)) return false;
    }
    return fine_;
  }

  // Between two exchanges the threads meet, so that whoever writes knows that all have read (device/exchange.h).
  __device__ __forceinline__ Stamp begin(int32_t collective, uint32_t kind, uint64_t bytes) {
    __syncthreads();
    ++number_;
    if (fine_ && thread_ == 0) *const_cast<volatile uint32_t*>(&state()->number) = number_;
    uint64_t hash = (bytes << 16 ^ kind << 4 ^ static_cast<uint32_t>(collective)) * 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 29;
    return {number_, static_cast<uint32_t>(hash * 0x94d049bb133111ebu >> 32)};
  }
  __device__ __forceinline__ bool end(bool came) {
    fine_ = __syncthreads_and(came) != 0;
    return fine_;
  }

  __device__ __forceinline__ bool receive(int32_t collective, int32_t source, uint32_t word, const Stamp& stamp,
                                          uint64_t* bits) const {
    return receive_packet(world_, awaited(collective, source, stamp), packets(world_.pe, source, stamp) + word, bits);
  }
  __device__ __forceinline__ Awaited awaited(int32_t collective, int32_t peer, const Stamp& stamp) const {
    return {kInCallersKernel + collective, peer, static_cast<int32_t>(channel_), stamp.number, stamp.signature};
  }

  __device__ __forceinline__ void copy(void* to, const void* from, uint64_t bytes) const {
    constexpr uint64_t kAtOnce = uint64_t{1} << 31;
#pragma unroll 1
    for (uint64_t at = 0; at < bytes; at += kAtOnce) {
      copy_by({thread_, threads_}, static_cast<uint8_t*>(to) + at, static_cast<const uint8_t*>(from) + at,
              bytes - at < kAtOnce ? bytes - at : kAtOnce);
    }
  }

  __device__ __forceinline__ uint8_t* exchange_of(int32_t pe) const {
    return scratch_of(world_, pe) + world_.exchange_at;
  }
  __device__ __forceinline__ ChannelState* state_of(uint32_t channel) const {
    return reinterpret_cast<ChannelState*>(exchange_of(world_.pe)) + channel;
  }
  __device__ __forceinline__ ChannelState* state() const { return state_of(channel_); }

  // What `source` writes to PE `at` in the exchange of the stamp.
  __device__ __forceinline__ Packet* packets(int32_t at, int32_t source, const Stamp& stamp) const {
    const auto others = channel_others(static_cast<uint32_t>(world_.pes));
    const auto other = static_cast<uint32_t>(source > at ? source - at - 1 : source + world_.pes - at - 1);
    const uint64_t row = (channel_ * 2 + stamp.number % 2) * others + other;
    return reinterpret_cast<Packet*>(exchange_of(at) + kChannelPacketsAt) + row * packets_;
  }

  const sparkgap_device_world& world_;
  const uint32_t channel_;
  const uint32_t thread_;
  const uint32_t threads_;
  const uint32_t packets_;  // of a source
  bool fine_;               // nothing has given up; alike in all threads
  uint32_t number_ = 0;
};

}  // namespace sparkgap::device

#endif  // SPARKGAP_DEVICE_BLOCK_CUH
