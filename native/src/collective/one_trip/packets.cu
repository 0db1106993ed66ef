// One trip in packets: for small messages.
//
// Every PE stores its message for each peer, packed with the call's number and signature, into that peer's scratch;
// then it takes what has come to it. One trip over the link, no fence, no barrier; twice the bytes. Known as "LL"
// (NCCL's protocol of that name, MSCCL++'s packets).
//
//   message        | word 0 | word 1 | ...          8 bytes each; thread t of the grid has words t, t + threads, ...
//
//   scratch of PE r, parity number % 2:
//     from PE p    | packet of word 0 | packet of word 1 | ...     packet = {low, number, high, number ^ signature}
//
// Rotation: protocol/scratch.h. A thread takes the words that it has sent, so in place is as good as out of place.
// Requires: bytes <= kPacketBytes / (pes - 1). Any alignment; words are 8-byte loads where the message is aligned to 8.
#include "collective/one_trip/message.cuh"
#include "sparkgap/device/words.cuh"

namespace sparkgap::kernels {
namespace {

// Where the words for a PE are, and where they go.
struct Route {
  const uint8_t* from;
  Packet* to;
};

// Sends all words of this thread, then calls take(message, word) for each, which is false if a wait gave up. Few words
// a thread, most often one, and short code: what counts here is how soon the first one is on its way. So all that can
// be known of it is worked out while the kernel before still runs.
template <class Stored, class Take>
__device__ __forceinline__ void carry_packets(const Trip& trip, Take take) {
  fetch_parameters(trip);
  const uint32_t bytes = static_cast<uint32_t>(trip.bytes);
  const uint32_t threads = gridDim.x * blockDim.x;
  const uint32_t own = (blockIdx.x * blockDim.x + threadIdx.x);
  const Message message(trip);
  const auto route_to = [&](int32_t peer) { return Route{trip.message_for(peer), message.packets_to(peer)}; };
  Route first = route_to(trip.neighbour(1));
  work_out_here(first.from);
  work_out_here(first.to);
  await_kernel_before();
#pragma unroll 1
  for (uint32_t word = own; word * kWordBytes < bytes; word += threads) {
#pragma unroll 1
    for (int32_t distance = 1; distance < trip.world.pes; ++distance) {
      const int32_t peer = trip.neighbour(distance);
      if (!trip.has_data(trip.world.pe, peer)) continue;
      const Route route = distance == 1 ? first : route_to(peer);
      store_packet(route.to + word, load_word<Stored>(route.from, word * kWordBytes, bytes), message.stamp());
    }
  }
  let_next_start();
  message.greet(true);
#pragma unroll 1
  for (uint32_t word = own; word * kWordBytes < bytes; word += threads) {
    if (!take(message, word)) return;
  }
  message.await_greetings(true);
}

__device__ __forceinline__ bool receive_word(const Trip& trip, const Message& message, int32_t source, uint32_t word,
                                             uint64_t* bits) {
  return receive_packet(trip.world, message.awaited(source), message.packets_from(source) + word, bits);
}

template <class Element, class Operation>
__global__ void __launch_bounds__(kTripThreads, kTripBlocks) packets_fold(const __grid_constant__ Trip trip) {
  using Stored = typename Element::Stored;
  carry_packets<Stored>(trip, [&](const Message& message, uint32_t word) {
    const KernelWorld& world = trip.world;
    const uint32_t at = word * kWordBytes;
    const uint32_t bytes = static_cast<uint32_t>(trip.bytes);
    if (!trip.takes(world.pe)) return true;
    const uint64_t own = load_word<Stored>(trip.message_for(world.pe), at, bytes);
    WordSum<Element> sum;
#pragma unroll 1
    for (int32_t pe = 0; pe < world.pes; ++pe) {
      uint64_t bits = own;
      if (pe != world.pe && !receive_word(trip, message, pe, word, &bits)) return false;
      if (pe == 0) {
        sum.start(bits);
      } else {
        sum.template add<Operation>(bits);
      }
    }
    store_word<Stored>(trip.out, at, bytes, sum.result(trip.divisor));
    return true;
  });
}

__global__ void __launch_bounds__(kTripThreads, kTripBlocks) packets_copy(const __grid_constant__ Trip trip) {
  carry_packets<uint8_t>(trip, [&](const Message& message, uint32_t word) {
    const KernelWorld& world = trip.world;
    const uint32_t at = word * kWordBytes;
    const uint32_t bytes = static_cast<uint32_t>(trip.bytes);
#pragma unroll 1
    for (int32_t distance = 0; distance < world.pes; ++distance) {
      const int32_t source = trip.neighbour(distance);
      if (!trip.has_data(source, world.pe)) continue;
      uint64_t bits;
      if (source == world.pe) {
        if (trip.place_of(source) == trip.message_for(source)) continue;
        bits = load_word<uint8_t>(trip.message_for(source), at, bytes);
      } else if (!receive_word(trip, message, source, word, &bits)) {
        return false;
      }
      store_word<uint8_t>(trip.place_of(source), at, bytes, bits);
    }
    return true;
  });
}

using Kernel = void (*)(Trip);

// By SPARKGAP_SUM, PROD, MIN, MAX, AVG.
template <class Element>
constexpr Kernel kOperations[SPARKGAP_OPS] = {packets_fold<Element, Sum>, packets_fold<Element, Product>,
                                              packets_fold<Element, Minimum>, packets_fold<Element, Maximum>,
                                              packets_fold<Element, Sum>};

#define SPARKGAP_OPERATIONS_OF(Element) kOperations<Element>
constexpr const Kernel* kFolds[SPARKGAP_TYPES] = SPARKGAP_FOR_EACH_ELEMENT(SPARKGAP_OPERATIONS_OF);
#undef SPARKGAP_OPERATIONS_OF

}  // namespace

int32_t launch_packets(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  const Trip trip = trip_of(world, call);
  const uint64_t words = (trip.bytes + kWordBytes - 1) / kWordBytes;
  const Kernel kernel = description_of(call).has_op ? kFolds[call.type][call.op] : packets_copy;
  return launch_trip(reinterpret_cast<const void*>(kernel), trip, stream, spread(words, call.shape, world.lanes));
}

}  // namespace sparkgap::kernels
