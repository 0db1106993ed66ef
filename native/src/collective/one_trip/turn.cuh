// One call in packets by threads that have a word of every message each: what a kernel that makes several calls is made
// of (program.cu, resident.cu). On the link it is what packets.cu makes of the call: the same packets in the same
// places.
#ifndef SPARKGAP_COLLECTIVE_ONE_TRIP_TURN_CUH
#define SPARKGAP_COLLECTIVE_ONE_TRIP_TURN_CUH

#include "collective/one_trip/trip.cuh"
#include "sparkgap/device/words.cuh"

namespace sparkgap::kernels {

// Where packets go and come from, in shared memory: worked out once a kernel, because it takes some 100 cycles.
struct PacketRows {
  Packet* to[kParities][kMaxPes];
  const Packet* from[kParities][kMaxPes];

  // By the block, of 2 kMaxPes threads or more, which meets before anybody looks.
  __device__ void fill(const KernelWorld& world, const Places& places) {
    const auto peer = static_cast<int32_t>(threadIdx.x / kParities);
    const auto parity = static_cast<uint32_t>(threadIdx.x % kParities);
    if (peer >= world.pes || peer == world.pe) return;
    to[parity][peer] = reinterpret_cast<Packet*>(scratch_of(world, peer) + places.packets(peer, parity, world.pe));
    from[parity][peer] =
        reinterpret_cast<const Packet*>(scratch_of(world, world.pe) + places.packets(world.pe, parity, peer));
  }
};

template <class Element>
__device__ __forceinline__ void add(WordSum<Element>& sum, uint64_t bits, int32_t op) {
  switch (op) {
    case SPARKGAP_PROD:
      return sum.template add<Product>(bits);
    case SPARKGAP_MIN:
      return sum.template add<Minimum>(bits);
    case SPARKGAP_MAX:
      return sum.template add<Maximum>(bits);
    default:
      return sum.template add<Sum>(bits);
  }
}

// What a thread does of a call. All functions that return a bool are false if a wait gave up.
struct Turn {
  const KernelWorld& world;
  const PacketRows& rows;
  const TripCall& call;
  Stamp stamp;
  int32_t lane;   // for the record
  uint32_t word;  // of each message, if it has as many

  __device__ uint32_t bytes() const { return static_cast<uint32_t>(call.bytes); }
  __device__ uint32_t at() const { return word * static_cast<uint32_t>(kWordBytes); }
  __device__ Packet* to(int32_t peer) const { return rows.to[stamp.number % kParities][peer]; }

  // `type`: of what is added; -1 if nothing is.
  __device__ __forceinline__ bool take(int32_t type) const {
    if (at() >= bytes()) return true;
    if (type == SPARKGAP_FLOAT32) return fold<Plain<float>>();
    switch (type) {
      case SPARKGAP_FLOAT64:
        return fold<Plain<double>>();
      case SPARKGAP_FLOAT16:
        return fold<Float16>();
      case SPARKGAP_BFLOAT16:
        return fold<Bfloat16>();
      case SPARKGAP_INT8:
        return fold<Plain<int8_t>>();
      case SPARKGAP_UINT8:
        return fold<Plain<uint8_t>>();
      case SPARKGAP_INT32:
        return fold<Plain<int32_t>>();
      case SPARKGAP_INT64:
        return fold<Plain<int64_t>>();
      default:
        return copy();
    }
  }

  // Where some PEs send no data to some others: an empty packet to each of these, before the data, and the wait for
  // those of the PEs that send none, so that each hears from all. By the first threads of the grid.
  __device__ void greet() const {
    const auto peer = static_cast<int32_t>(threadIdx.x);
    if (is_other(peer) && !call.has_data(world.pe, peer)) store_packet(to(peer), 0, stamp);
  }
  __device__ bool await_greetings() const {
    const auto source = static_cast<int32_t>(threadIdx.x);
    if (!is_other(source) || call.has_data(source, world.pe)) return true;
    uint64_t nothing;
    return receive(source, 0, &nothing);
  }

 private:
  __device__ bool is_other(int32_t pe) const { return blockIdx.x == 0 && pe < world.pes && pe != world.pe; }

  __device__ __forceinline__ bool receive(int32_t source, uint32_t at_word, uint64_t* bits) const {
    const Awaited awaited = {call.collective, source, lane, stamp.number, stamp.signature};
    return receive_packet(world, awaited, rows.from[stamp.number % kParities][source] + at_word, bits);
  }

  template <class Stored>
  __device__ __forceinline__ void send() const {
#pragma unroll 1
    for (int32_t distance = 1; distance < world.pes; ++distance) {
      const int32_t peer = neighbour_of(world, distance);
      if (!call.has_data(world.pe, peer)) continue;
      store_packet(to(peer) + word, load_word<Stored>(call.message_for(peer), at(), bytes()), stamp);
    }
  }

  template <class Element>
  __device__ __forceinline__ bool fold() const {
    using Stored = typename Element::Stored;
    send<Stored>();
    if (!call.takes(world.pe)) return true;
    const uint64_t own = load_word<Stored>(call.message_for(world.pe), at(), bytes());
    WordSum<Element> sum;
#pragma unroll 1
    for (int32_t pe = 0; pe < world.pes; ++pe) {
      uint64_t bits = own;
      if (pe != world.pe && !receive(pe, word, &bits)) return false;
      if (pe == 0) {
        sum.start(bits);
      } else {
        add(sum, bits, call.op);
      }
    }
    store_word<Stored>(call.out, at(), bytes(), sum.result(call.divisor));
    return true;
  }

  __device__ __forceinline__ bool copy() const {
    send<uint8_t>();
#pragma unroll 1
    for (int32_t distance = 0; distance < world.pes; ++distance) {
      const int32_t source = neighbour_of(world, distance);
      if (!call.has_data(source, world.pe)) continue;
      uint64_t bits;
      if (source == world.pe) {
        if (call.place_of(source) == call.message_for(source)) continue;
        bits = load_word<uint8_t>(call.message_for(source), at(), bytes());
      } else if (!receive(source, word, &bits)) {
        return false;
      }
      store_word<uint8_t>(call.place_of(source), at(), bytes(), bits);
    }
    return true;
  }
};

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_ONE_TRIP_TURN_CUH
