#include "select/select.h"

#include <algorithm>

#include "protocol/kernel_world.h"
#include "protocol/layout.h"

namespace sparkgap {
namespace {

// Above, fetching lines one after the other costs more than the wait for a flag that packets save.
constexpr uint64_t kMostPacketBytes = 512;

// allReduce: a PE reads pes - 1 times the message in one-shot and 2 * (pes - 1) / pes times in two-shot, which waits
// once more. The sizes where both took the same time, times pes - 2: measured with 4 PEs.
constexpr uint64_t kOneShotBytes = 16 * 1024;
constexpr uint64_t kOneShotBytesWhenSharing = 24 * 1024;

// From here on, a copy less is worth a step more, in which PEs show where their arrays lie: measured with symmetric
// arrays. With others that step is for nothing if they are to be reduced, or if PEs may not read each other's
// processes.
uint64_t direct_bytes(int32_t collective, const Circumstances& circumstances) {
  if (circumstances.oversubscribed) return 64 * 1024;
  return collective == SPARKGAP_ALL_REDUCE ? 256 * 1024 : 16 * 1024;
}

Algorithm select_all_reduce(uint64_t bytes, const Circumstances& circumstances) {
  // PEs that share cores wait for a switch anyway; then a flag costs nothing.
  if (bytes <= kMostPacketBytes && !circumstances.oversubscribed) return Algorithm::kPackets;
  // Two PEs read the same in both.
  if (circumstances.pes <= 2) return Algorithm::kOneShot;
  const uint64_t limit = circumstances.oversubscribed ? kOneShotBytesWhenSharing : kOneShotBytes;
  return bytes <= limit / static_cast<uint64_t>(circumstances.pes - 2) ? Algorithm::kOneShot : Algorithm::kTwoShot;
}

Algorithm select_on_host(int32_t collective, uint64_t bytes, const Circumstances& circumstances) {
  const bool direct = has_algorithm(ProviderKind::kHost, collective, Algorithm::kDirect) &&
                      bytes >= direct_bytes(collective, circumstances);
  return direct ? Algorithm::kDirect : select_for_any_memory(collective, bytes, circumstances);
}

// Packets send the message twice to each peer, two-shot about twice in all, but waits once more. Measured on two H200
// (bench/results/gpu-*.json).
constexpr uint64_t kGpuPacketBytes = 1 << 20;

// A ring has the same bytes on each PE's link as two-shot, but all of them between neighbours, where two-shot sends
// from all to all: over PCI Express that meets on the way up from the switches and between the CPUs. In exchange a
// piece takes a round for each PE to come back. From here on, 64 lanes have at least two pieces of 8 KiB for each PE,
// so that the rounds in which the ring fills and empties are the smaller part. By reasoning, not measured: no host with
// GPUs on PCI Express alone was at hand.
constexpr uint64_t kRingBytesForEachPe = 1 << 20;

Algorithm select_all_reduce_on_gpu(uint64_t bytes, const Circumstances& circumstances) {
  const uint64_t pes = static_cast<uint64_t>(circumstances.pes);
  const uint64_t peers = std::max<uint64_t>(1, pes - 1);
  if (bytes <= kGpuPacketBytes / peers && can_carry(Algorithm::kPackets, bytes, circumstances)) {
    return Algorithm::kPackets;
  }
  const bool ring = circumstances.pcie && pes > 2 && bytes >= kRingBytesForEachPe * pes;
  return ring ? Algorithm::kRing : Algorithm::kTwoShot;
}

Algorithm select_on_gpu(int32_t collective, uint64_t bytes, const Circumstances& circumstances) {
  if (circumstances.lanes == 0) return Algorithm::kDefault;
  switch (collective) {
    case SPARKGAP_ALL_REDUCE:
      return select_all_reduce_on_gpu(bytes, circumstances);
    case SPARKGAP_REDUCE:
      return Algorithm::kTwoShot;
    case SPARKGAP_BARRIER:
      return Algorithm::kFlags;
    default:
      return Algorithm::kChunked;
  }
}

}  // namespace

Algorithm select_for_any_memory(int32_t collective, uint64_t bytes, const Circumstances& circumstances) {
  switch (collective) {
    case SPARKGAP_ALL_REDUCE:
      return select_all_reduce(bytes, circumstances);
    case SPARKGAP_BARRIER:
      return Algorithm::kFlags;
    default:
      return Algorithm::kStaged;
  }
}

Algorithm select(int32_t collective, uint64_t bytes, const Circumstances& circumstances) {
  return circumstances.provider == ProviderKind::kHost ? select_on_host(collective, bytes, circumstances)
                                                       : select_on_gpu(collective, bytes, circumstances);
}

bool can_carry(Algorithm algorithm, uint64_t bytes, const Circumstances& circumstances) {
  const bool on_host = circumstances.provider == ProviderKind::kHost;
  if (algorithm == Algorithm::kPackets) {
    const uint64_t lanes = static_cast<uint64_t>(circumstances.lanes);
    return bytes <= (on_host ? kMaxPacketDataBytes : lanes * kernels::kLanePacketBytes);
  }
  return on_host || algorithm == Algorithm::kDefault || circumstances.lanes > 0;
}

}  // namespace sparkgap
