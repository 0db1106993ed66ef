// What the kernels that move chunks through slots have in common: how a message is cut into pieces, who moves which,
// and the launch.
#ifndef SPARKGAP_COLLECTIVE_LANES_CUH
#define SPARKGAP_COLLECTIVE_LANES_CUH

#include <algorithm>

#include "collective/launch_cache.h"
#include "description/types.h"
#include "protocol/lane.cuh"
#include "sparkgap/device/copy.cuh"

namespace sparkgap::kernels {

// Two blocks of them fit a multiprocessor, so that the next launch is set up beside the one that runs.
constexpr int32_t kLaneThreads = 512;
constexpr int32_t kLaneBlocks = 2;

// Pieces of fewer bytes are not worth a lane of their own.
constexpr uint64_t kLeastPieceBytes = 8 << 10;

// How all PEs cut `total` bytes: piece i has bytes [i * piece_bytes, ...), and lane l moves pieces l, l + lanes, ...
struct Pieces {
  uint64_t total;
  uint64_t piece_bytes;

  __device__ uint64_t begin(uint64_t piece) const { return piece * piece_bytes; }
  __device__ uint64_t size(uint64_t piece) const {
    const uint64_t from = begin(piece);
    return from >= total ? 0 : (total - from < piece_bytes ? total - from : piece_bytes);
  }
};

// Parameters of every kernel here; what a collective does not have is 0.
struct LaneCall {
  KernelWorld world;
  const uint8_t* in;
  uint8_t* out;
  Pieces pieces;
  uint64_t place;
  uint8_t* peer_out[kMaxPes];
  int32_t collective;
  int32_t type;
  int32_t op;
  int32_t root;
  uint32_t signature;
};

// A piece that PEs share: part_bytes for each, in order, the last ones shorter or empty. Relative to the message.
struct Part {
  uint64_t begin;
  uint64_t bytes;
};

__device__ inline Part part_of(const Pieces& pieces, uint64_t part_bytes, uint64_t piece, int32_t pe) {
  const uint64_t size = pieces.size(piece);
  const uint64_t from = pe * part_bytes;
  if (from >= size) return {0, 0};
  return {pieces.begin(piece) + from, min(part_bytes, size - from)};
}

// Pieces of at most `most_bytes` (a multiple of 16), so that every lane has one before any has two. Returns the lanes.
inline int32_t cut(uint64_t total, uint64_t most_bytes, int32_t lanes, Pieces* pieces) {
  const uint64_t even = (total + lanes - 1) / lanes;
  const uint64_t wanted = std::min(most_bytes, std::max(even, std::min(most_bytes, kLeastPieceBytes)));
  pieces->total = total;
  pieces->piece_bytes = (wanted + 15) / 16 * 16;
  const uint64_t count = (total + pieces->piece_bytes - 1) / pieces->piece_bytes;
  return static_cast<int32_t>(std::max<uint64_t>(1, std::min<uint64_t>(count, lanes)));
}

// The even part of each PE in pieces that were cut so that `most_bytes` of a slot suffice for a part.
inline int32_t cut_in_parts(uint64_t total, uint64_t most_bytes, uint64_t pes, int32_t lanes, Pieces* pieces,
                            uint64_t* part_bytes) {
  const int32_t used = cut(total, most_bytes * pes, lanes, pieces);
  *part_bytes = ((pieces->piece_bytes + pes - 1) / pes + 15) / 16 * 16;
  return used;
}

// Lanes that a call may use.
inline int32_t lanes_of(const KernelWorld& world, const KernelCall& call) {
  return std::min(world.lanes, call.shape.blocks);
}

inline LaneCall lane_call(const KernelWorld& world, const KernelCall& call) {
  LaneCall lanes = {};
  lanes.world = world;
  lanes.in = static_cast<const uint8_t*>(call.in);
  lanes.out = static_cast<uint8_t*>(call.out);
  lanes.place = call.place;
  for (int32_t pe = 0; call.place != 0 && pe < world.pes; ++pe) {
    lanes.peer_out[pe] = static_cast<uint8_t*>(const_cast<void*>(call.peer_out[pe]));
  }
  lanes.collective = call.collective;
  lanes.type = call.type;
  lanes.op = call.op;
  lanes.root = call.root;
  lanes.signature = call.signature;
  return lanes;
}

template <class Parameters>
int32_t launch_lanes(void (*kernel)(Parameters), const KernelWorld& world, CUstream_st* stream, int32_t lanes,
                     const Parameters& parameters) {
  static_assert(sizeof(Parameters) <= LaunchCache::kMaxParameterBytes);
  const LaunchShape shape = {reinterpret_cast<const void*>(kernel), lanes, kLaneThreads, true, 0};
  return enqueue(world, stream, shape, &parameters, sizeof parameters);
}

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_LANES_CUH
