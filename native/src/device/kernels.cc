#include "device/kernels.h"

#include <algorithm>

#include "collective/launch.h"
#include "collective/one_trip/launch.h"
#include "device/element_bytes.h"
#include "device/tuning.h"
#include "protocol/scratch.h"

namespace sparkgap::kernels {

uint64_t scratch_bytes(int32_t pes) { return scratch_size(static_cast<uint64_t>(pes)); }

// Two launches of a PE can be on the GPU at once (meet_launch_order), and a multiprocessor has room for two blocks of
// any kernel of a collective but the wide ones: a lane of each PE for each multiprocessor always fits.
int32_t lanes_for(int32_t multiprocessors, int32_t pes_per_device) {
  return std::max(1, std::min(kMaxLanes, multiprocessors / std::max(1, pes_per_device)));
}

int32_t wide_lanes_for(int32_t lanes, int32_t pes_per_device) {
  return pes_per_device <= 1 ? lanes : std::max(1, lanes / 2);
}

namespace {

uint32_t signature_of(const KernelCall& call) {
  const bool has_op = call.collective == SPARKGAP_ALL_REDUCE || call.collective == SPARKGAP_REDUCE ||
                      call.collective == SPARKGAP_REDUCE_SCATTER;
  const bool has_root = call.collective == SPARKGAP_REDUCE || call.collective == SPARKGAP_BROADCAST;
  uint64_t hash = 0x9e3779b97f4a7c15u;
  const auto mix = [&hash](uint64_t value) {
    hash = (hash ^ value) * 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 29;
  };
  mix(static_cast<uint64_t>(call.collective) << 8 | static_cast<uint64_t>(call.algorithm));
  mix(static_cast<uint64_t>(call.type) << 8 | static_cast<uint64_t>(has_op ? call.op : 0));
  mix(static_cast<uint64_t>(has_root ? call.root : 0));
  mix(call.collective == SPARKGAP_ALL_TO_ALLV ? 0 : call.count);
  return static_cast<uint32_t>(hash >> 32);
}

using Launch = int32_t (*)(const KernelWorld&, CUstream_st*, const KernelCall&);

// The kernels of their own of a collective that goes by neither packets, lines nor chunks.
Launch launch_of(const KernelCall& call) {
  switch (call.collective) {
    case SPARKGAP_BARRIER:
      return launch_barrier_flags;
    case SPARKGAP_ALL_TO_ALLV:
      return launch_all_to_allv_chunked;
    case SPARKGAP_ALL_REDUCE:
      return call.algorithm == Algorithm::kRing ? launch_all_reduce_ring : launch_all_reduce_two_shot;
    case SPARKGAP_REDUCE:
      return launch_reduce_two_shot;
    default:
      return launch_broadcast_chunked;
  }
}

bool goes_in_chunks(const KernelCall& call) {
  if (call.algorithm == Algorithm::kOneShot) return true;
  return call.algorithm == Algorithm::kChunked && call.collective != SPARKGAP_BROADCAST &&
         call.collective != SPARKGAP_ALL_TO_ALLV;
}

}  // namespace

int32_t launch(const KernelWorld& world, CUstream_st* stream, const KernelCall& asked) {
  const bool moves_without_count = asked.collective == SPARKGAP_BARRIER || asked.collective == SPARKGAP_ALL_TO_ALLV;
  if (asked.count == 0 && !moves_without_count) return 0;
  KernelCall call = asked;
  call.signature = signature_of(call);
  if (call.shape.blocks == 0) {
    const uint64_t bytes = call.count * element_bytes(call.type);
    call.shape = tuned_shape(*world.tuning, call.collective, call.algorithm, bytes, world.pes);
  }
  if (call.algorithm == Algorithm::kPackets) return launch_packets(world, stream, call);
  if (call.algorithm == Algorithm::kLines) return launch_lines(world, stream, call);
  if (goes_in_chunks(call)) return launch_chunks(world, stream, call);
  return launch_of(call)(world, stream, call);
}

}  // namespace sparkgap::kernels
