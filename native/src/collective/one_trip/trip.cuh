// What the collectives of one trip have in common: each PE has a message for each other, sends it there, and does
// something with what comes. allReduce, reduce, reduceScatter, allGather, allToAll and broadcast differ only in what is
// in a Trip; packets.cu, lines.cu and chunks.cu are three ways to carry one.
//
//   collective      who sends to whom     message for PE q            what comes is
//   allReduce       all to all            in, all of it               added in PE order into out
//   reduce          all to the root       in, all of it               added in PE order into out
//   reduceScatter   all to all            block q of in               added in PE order into out
//   allGather       all to all            in, all of it               block p of out
//   allToAll        all to all            block q of in               block p of out
//   broadcast       the root to all       in, all of it               out
#ifndef SPARKGAP_COLLECTIVE_ONE_TRIP_TRIP_CUH
#define SPARKGAP_COLLECTIVE_ONE_TRIP_TRIP_CUH

#include <algorithm>

#include "collective/launch.h"
#include "collective/launch_cache.h"
#include "protocol/wait.cuh"
#include "sparkgap/device/packet.cuh"

namespace sparkgap::kernels {

// Two blocks of packets or lines fit a multiprocessor, one of chunks.
constexpr int32_t kTripThreads = 512;
constexpr int32_t kTripBlocks = 2;

// Above, a call takes the GPU longer than the host; measured on one and on two H200.
constexpr uint64_t kMostBytesAlone = 64 << 10;

// What a collective is here.
struct TripCall {
  const uint8_t* in;
  uint8_t* out;
  uint64_t bytes;       // of a message
  uint64_t in_stride;   // from the message for a PE to that for the next; 0: all get the same
  uint64_t out_stride;  // where nothing is added: from one PE's message in `out` to the next one's
  uint32_t senders;     // a bit for each PE: data goes from each of these
  uint32_t receivers;   // to each of these
  uint32_t signature;
  int32_t collective;
  int32_t op;
  int32_t divisor;

  __device__ bool sends(int32_t pe) const { return (senders >> pe & 1) != 0; }
  __device__ bool takes(int32_t pe) const { return (receivers >> pe & 1) != 0; }
  __device__ bool has_data(int32_t from, int32_t to) const { return sends(from) && takes(to); }
  __device__ const uint8_t* message_for(int32_t pe) const { return in + pe * in_stride; }
  __device__ uint8_t* place_of(int32_t pe) const { return out + pe * out_stride; }
};

// The PE `distance` after this one: so that PEs do not all send to the same peer at once.
__device__ __forceinline__ int32_t neighbour_of(const KernelWorld& world, int32_t distance) {
  const int32_t pe = world.pe + distance;
  return pe < world.pes ? pe : pe - world.pes;
}

// Parameters of every kernel of one call.
struct Trip : TripCall {
  KernelWorld world;
  Places places;

  __device__ int32_t neighbour(int32_t distance) const { return neighbour_of(world, distance); }
};

inline Trip trip_of(const KernelWorld& world, const KernelCall& call) {
  const uint32_t all = (1u << world.pes) - 1;
  const uint32_t root = 1u << call.root;
  Trip trip = {};
  trip.world = world;
  trip.places = places_of(static_cast<uint64_t>(world.pes));
  trip.in = static_cast<const uint8_t*>(call.in);
  trip.out = static_cast<uint8_t*>(call.out);
  const Collective& what = description_of(call);
  trip.bytes = given_bytes(call);
  trip.in_stride = what.in.extent == Extent::kCountForEachPe ? trip.bytes : 0;
  trip.out_stride = what.out.extent == Extent::kCountForEachPe ? trip.bytes : 0;
  trip.senders = what.in.root_only ? root : all;
  trip.receivers = what.out.root_only ? root : all;
  trip.signature = call.signature;
  trip.collective = call.collective;
  trip.op = call.op;
  trip.divisor = call.op == SPARKGAP_AVG ? world.pes : 0;
  return trip;
}

// Blocks and threads for `items` of which each thread is to have one, as far as `shape` and the world's lanes allow; a
// block has no more threads than it needs, in multiples of a warp.
inline LaunchShape spread(uint64_t items, const Shape& shape, int32_t lanes) {
  const uint64_t threads = static_cast<uint64_t>(shape.threads);
  const uint64_t most = static_cast<uint64_t>(std::min(shape.blocks, lanes));
  const uint64_t blocks = std::max<uint64_t>(1, std::min(most, (items + threads - 1) / threads));
  const uint64_t each = std::max<uint64_t>(1, (items + blocks - 1) / blocks);
  return {nullptr, static_cast<int32_t>(blocks), static_cast<int32_t>(std::min(threads, (each + 31) / 32 * 32)), true,
          0};
}

inline int32_t launch_trip(const void* kernel, const Trip& trip, CUstream_st* stream, LaunchShape shape) {
  static_assert(sizeof(Trip) <= LaunchCache::kMaxParameterBytes);
  shape.kernel = kernel;
  shape.overlaps = trip.bytes > kMostBytesAlone;
  return enqueue(trip.world, stream, shape, &trip, sizeof trip);
}

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_ONE_TRIP_TRIP_CUH
