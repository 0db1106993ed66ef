// allReduce, one-shot in packets: for small messages.
//
// Every PE stores its whole message, packed with a sequence number, into every other PE's scratch; then each adds what
// has come to it, in PE order. One trip over the link, no fence, no barrier. Both known as "LL one-shot" (NCCL's LL
// protocol, MSCCL++'s packets).
//
//   message   | lane 0          | lane 1          | ...        words of 8 bytes, words_per_lane to a lane
//
//   scratch of PE r, parity number % 2:
//     lane 0  | from PE 0: packets | from PE 1: packets | ...       packet = {low, number, high, number}
//     lane 1  | from PE 0: packets | ...
//
// Rotation: see protocol/scratch.h. A thread keeps its own words in registers, so in place is as good as out of place.
// Requires: bytes <= lanes * kLanePacketBytes. Any alignment; words are 8-byte loads where
// `in` is aligned to 8.
#include "collective/lanes.cuh"
#include "collective/launch.h"
#include "collective/launch_cache.h"
#include "protocol/packet.cuh"
#include "reduce/elements.cuh"

namespace sparkgap::kernels {
namespace {

constexpr int32_t kThreads = 512;
constexpr int32_t kWordsPerThread = kLanePackets / kThreads;

// Above, a call takes the GPU longer than the host; measured on one and on two H200.
constexpr uint32_t kMostBytesAlone = 64 << 10;

struct PacketCall {
  const uint8_t* in;
  uint8_t* out;
  uint32_t bytes;
  uint32_t words_per_lane;
  int32_t divisor;
  KernelWorld world;
};

template <class Stored>
union Word {
  uint64_t bits;
  Stored elements[kWordBytes / sizeof(Stored)];
};

// Of the last word only the elements that there are.
template <class Stored>
__device__ __forceinline__ uint64_t load_word(const uint8_t* in, uint32_t at, uint32_t bytes) {
  if (reinterpret_cast<uint64_t>(in) % kWordBytes == 0 && at + kWordBytes <= bytes) {
    return *reinterpret_cast<const uint64_t*>(in + at);
  }
  Word<Stored> word;
  word.bits = 0;
#pragma unroll
  for (uint32_t e = 0; e < kWordBytes / sizeof(Stored); ++e) {
    const uint32_t from = at + e * sizeof(Stored);
    if (from < bytes) word.elements[e] = *reinterpret_cast<const Stored*>(in + from);
  }
  return word.bits;
}

template <class Stored>
__device__ __forceinline__ void store_word(uint8_t* out, uint32_t at, uint32_t bytes, uint64_t bits) {
  if (reinterpret_cast<uint64_t>(out) % kWordBytes == 0 && at + kWordBytes <= bytes) {
    *reinterpret_cast<uint64_t*>(out + at) = bits;
    return;
  }
  Word<Stored> word;
  word.bits = bits;
#pragma unroll
  for (uint32_t e = 0; e < kWordBytes / sizeof(Stored); ++e) {
    const uint32_t to = at + e * sizeof(Stored);
    if (to < bytes) *reinterpret_cast<Stored*>(out + to) = word.elements[e];
  }
}

template <class Element, class Operation>
__global__ void __launch_bounds__(kThreads) all_reduce_packets(const __grid_constant__ PacketCall call) {
  using Stored = typename Element::Stored;
  using Wide = typename Element::Wide;
  constexpr int kElements = kWordBytes / sizeof(Stored);
  const KernelWorld& world = call.world;
  const uint32_t lane = blockIdx.x;
  const uint32_t lane_begin = lane * call.words_per_lane;

  meet_launch_order();
  uint32_t* counter = &counters_of(world)->packets[lane];
  const uint32_t number = load_volatile(counter) + 1;
  const uint32_t parity = number % kParities;

  uint64_t own[kWordsPerThread];
#pragma unroll
  for (int k = 0; k < kWordsPerThread; ++k) {
    const uint32_t i = threadIdx.x + k * blockDim.x;
    const uint32_t at = (lane_begin + i) * kWordBytes;
    if (i >= call.words_per_lane || at >= call.bytes) break;
    own[k] = load_word<Stored>(call.in, at, call.bytes);
    for (int32_t distance = 1; distance < world.pes; ++distance) {
      int32_t peer = world.pe + distance;
      if (peer >= world.pes) peer -= world.pes;
      Packet* packets =
          reinterpret_cast<Packet*>(scratch_of(world, peer) + packets_at(world.pes, lane, parity, world.pe));
      store_packet(packets + i, own[k], number);
    }
  }

  // All threads have read the counter; it is written while the packets are under way.
  __syncthreads();
  if (threadIdx.x == 0) *counter = number;

#pragma unroll
  for (int k = 0; k < kWordsPerThread; ++k) {
    const uint32_t i = threadIdx.x + k * blockDim.x;
    const uint32_t at = (lane_begin + i) * kWordBytes;
    if (i >= call.words_per_lane || at >= call.bytes) break;
    Wide sums[kElements];
    for (int32_t pe = 0; pe < world.pes; ++pe) {
      Word<Stored> word;
      word.bits = own[k];
      if (pe != world.pe) {
        const Packet* packets =
            reinterpret_cast<const Packet*>(scratch_of(world, world.pe) + packets_at(world.pes, lane, parity, pe));
        const Awaited awaited = {SPARKGAP_ALL_REDUCE, pe, static_cast<int32_t>(lane), number};
        if (!receive_packet(world, awaited, packets + i, &word.bits)) return;
      }
#pragma unroll
      for (int e = 0; e < kElements; ++e) {
        const Wide value = Element::widen(word.elements[e]);
        sums[e] = pe == 0 ? value : Operation::combine(sums[e], value);
      }
    }
    Word<Stored> result;
#pragma unroll
    for (int e = 0; e < kElements; ++e) result.elements[e] = Element::narrow(divide(sums[e], call.divisor));
    store_word<Stored>(call.out, at, call.bytes, result.bits);
  }
}

using Kernel = void (*)(PacketCall);

// By SPARKGAP_SUM, PROD, MIN, MAX, AVG.
template <class Element>
constexpr Kernel kOperations[SPARKGAP_OPS] = {all_reduce_packets<Element, Sum>, all_reduce_packets<Element, Product>,
                                              all_reduce_packets<Element, Minimum>,
                                              all_reduce_packets<Element, Maximum>, all_reduce_packets<Element, Sum>};

#define SPARKGAP_OPERATIONS_OF(Element) kOperations<Element>
constexpr const Kernel* kKernels[SPARKGAP_TYPES] = SPARKGAP_FOR_EACH_ELEMENT(SPARKGAP_OPERATIONS_OF);
#undef SPARKGAP_OPERATIONS_OF

}  // namespace

int32_t launch_all_reduce_packets(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  PacketCall packets = {};
  packets.in = static_cast<const uint8_t*>(call.in);
  packets.out = static_cast<uint8_t*>(call.out);
  packets.bytes = static_cast<uint32_t>(call.count * element_bytes(call.type));
  packets.divisor = call.op == SPARKGAP_AVG ? world.pes : 0;
  packets.world = world;

  // One packet a thread as long as there are lanes, in blocks no larger than the message needs.
  const uint32_t words = (packets.bytes + kWordBytes - 1) / kWordBytes;
  const uint32_t lanes = std::min<uint32_t>(world.lanes, (words + kThreads - 1) / kThreads);
  packets.words_per_lane = (words + lanes - 1) / lanes;
  const uint32_t threads = std::min<uint32_t>(kThreads, (packets.words_per_lane + 31) / 32 * 32);

  const void* kernel = reinterpret_cast<const void*>(kKernels[call.type][call.op]);
  const LaunchShape shape = {kernel, static_cast<int32_t>(lanes), static_cast<int32_t>(threads),
                             packets.bytes > kMostBytesAlone};
  return enqueue(world, stream, shape, &packets, sizeof packets);
}

}  // namespace sparkgap::kernels
