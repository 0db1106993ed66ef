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
  const bool direct = bytes >= direct_bytes(collective, circumstances) &&
                      has_algorithm(ProviderKind::kHost, collective, Algorithm::kDirect);
  return direct ? Algorithm::kDirect : select_for_any_memory(collective, bytes, circumstances);
}

// A ring has the same bytes on each PE's link as two-shot, but all of them between neighbours, where two-shot sends
// from all to all: over PCI Express that meets on the way up from the switches and between the CPUs. In exchange a
// piece takes a round for each PE to come back. From here on, 64 lanes have at least two pieces of 8 KiB for each PE,
// so that the rounds in which the ring fills and empties are the smaller part. By reasoning, not measured: no host with
// GPUs on PCI Express alone was at hand.
constexpr uint64_t kRingBytesForEachPe = 1 << 20;

Algorithm select_on_gpu(int32_t collective, uint64_t bytes, const Circumstances& circumstances) {
  if (circumstances.lanes == 0) return Algorithm::kDefault;
  const uint64_t pes = static_cast<uint64_t>(circumstances.pes);
  if (collective == SPARKGAP_ALL_REDUCE && circumstances.pcie && pes > 2 && bytes >= kRingBytesForEachPe * pes) {
    return Algorithm::kRing;
  }
  const kernels::Tuning& tuning = circumstances.tuning == nullptr ? kernels::h200_tuning() : *circumstances.tuning;
  const auto carries = [&](Algorithm algorithm) { return can_carry(algorithm, bytes, circumstances); };
  return kernels::tuned_algorithm(tuning, collective, bytes, circumstances.pes, circumstances.lanes, carries);
}

// Between three nodes and more: from here on, bytes cost more than a second trip. By reasoning, not measured: no three
// hosts were at hand that do not share their CPUs.
constexpr uint64_t kScatteredBytes = 256 * 1024;

Algorithm select_rails(uint64_t bytes, const Circumstances& circumstances) {
  return circumstances.nodes > 2 && bytes >= kScatteredBytes ? Algorithm::kScattered : Algorithm::kRails;
}

Algorithm select_on_nodes(int32_t collective, uint64_t bytes, const Circumstances& circumstances) {
  switch (collective) {
    case SPARKGAP_ALL_REDUCE: {
      // In one trip every PE sends to every far one, which PEs that share cores do one after the other.
      const bool many_sends = circumstances.any_oversubscribed && circumstances.pes > circumstances.nodes;
      if (bytes <= circumstances.one_trip_bytes && !many_sends) return Algorithm::kOneTrip;
      return select_rails(bytes, circumstances);
    }
    case SPARKGAP_BROADCAST:
    case SPARKGAP_REDUCE:
      return select_rails(bytes, circumstances);
    case SPARKGAP_ALL_TO_ALL:
    case SPARKGAP_ALL_TO_ALLV:
      return Algorithm::kPairs;
    case SPARKGAP_BARRIER:
      return Algorithm::kOneTrip;
    default:
      return Algorithm::kRails;
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
  if (circumstances.provider == ProviderKind::kNodes) return select_on_nodes(collective, bytes, circumstances);
  return circumstances.provider == ProviderKind::kHost ? select_on_host(collective, bytes, circumstances)
                                                       : select_on_gpu(collective, bytes, circumstances);
}

bool can_carry(Algorithm algorithm, uint64_t bytes, const Circumstances& circumstances) {
  if (circumstances.provider == ProviderKind::kNodes) {
    return algorithm != Algorithm::kOneTrip || bytes <= circumstances.one_trip_bytes;
  }
  const bool on_host = circumstances.provider == ProviderKind::kHost;
  const uint64_t peers = static_cast<uint64_t>(std::max(1, circumstances.pes - 1));
  if (on_host) return algorithm != Algorithm::kPackets || bytes <= kMaxPacketDataBytes;
  if (algorithm == Algorithm::kDefault) return true;
  if (circumstances.lanes == 0) return false;
  if (algorithm == Algorithm::kPackets) return bytes <= kernels::kPacketBytes / peers;
  if (algorithm == Algorithm::kLines) return bytes <= kernels::kLineBytes / peers;
  return true;
}

}  // namespace sparkgap
