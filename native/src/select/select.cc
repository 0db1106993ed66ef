#include "select/select.h"

#include <algorithm>

#include "protocol/kernel_world.h"
#include "protocol/layout.h"
#include "select/cost.h"

namespace sparkgap {
namespace {

constexpr uint64_t kAny = ~0ull;

// Above, fetching lines one after the other costs more than the wait for a flag that packets save.
constexpr uint64_t kMostPacketBytes = 512;

// allReduce: a PE reads pes - 1 times the message in one-shot and 2 * (pes - 1) / pes times in two-shot, which waits
// once more. The sizes where both took the same time, times pes - 2: measured with 4 PEs.
constexpr uint64_t kOneShotBytes = 16 * 1024;
constexpr uint64_t kOneShotBytesWhenSharing = 24 * 1024;

// From here on, for symmetric arrays a copy less is worth a step more, after which they may be written to again.
// Private ones, which go into slots then, take no more steps than by any other way, and lose the 30 ns in which PEs
// look where each array is: a few hundredths from here on, and up to a tenth of 4 KiB in allGather and allToAll, where
// symmetric ones take half as long.
uint64_t direct_bytes(int32_t collective, const Circumstances& circumstances) {
  const bool rooted = collective == SPARKGAP_BROADCAST || collective == SPARKGAP_REDUCE;
  if (circumstances.oversubscribed) return rooted ? 64 * 1024 : 32 * 1024;
  if (collective == SPARKGAP_REDUCE_SCATTER) return 2 * 1024;
  if (collective == SPARKGAP_BROADCAST) return 8 * 1024;
  // Of more than two PEs it is a step more than one-shot also where all are in slots.
  return collective == SPARKGAP_ALL_REDUCE && circumstances.pes > 2 ? 8 * 1024 : 4 * 1024;
}

void add_rules_on_host(int32_t collective, const Circumstances& circumstances, std::vector<Rule>* rules) {
  Algorithm any = Algorithm::kStaged;
  if (collective == SPARKGAP_BARRIER) any = Algorithm::kFlags;
  if (collective == SPARKGAP_ALL_REDUCE) {
    // PEs that share cores wait for a switch anyway; then a flag costs nothing.
    if (!circumstances.oversubscribed) rules->push_back({kMostPacketBytes, Algorithm::kPackets});
    // Two PEs read the same in both.
    any = Algorithm::kOneShot;
    if (circumstances.pes > 2) {
      const uint64_t limit = circumstances.oversubscribed ? kOneShotBytesWhenSharing : kOneShotBytes;
      const uint64_t one_shot = limit / static_cast<uint64_t>(circumstances.pes - 2);
      rules->push_back({std::min(one_shot, direct_bytes(collective, circumstances) - 1), Algorithm::kOneShot});
      any = Algorithm::kTwoShot;
    }
  }
  if (has_algorithm(ProviderKind::kHost, collective, Algorithm::kDirect)) {
    rules->push_back({direct_bytes(collective, circumstances) - 1, any});
    rules->push_back({kAny, Algorithm::kDirect});
  }
  rules->push_back({kAny, any});
}

// Where nothing was measured: what the cost model finds best, size by size.
void add_rules_by_cost(int32_t collective, const Circumstances& circumstances, std::vector<Rule>* rules) {
  constexpr uint64_t kSmallest = 64;
  constexpr uint64_t kLargest = uint64_t{1} << 30;
  for (uint64_t bytes = kSmallest; bytes <= kLargest; bytes += bytes / 4) {
    Rule best = {bytes, Algorithm::kAuto};
    double least = 0;
    for (int32_t number = 1; number < kAlgorithms; ++number) {
      const Algorithm algorithm = static_cast<Algorithm>(number);
      if (!has_algorithm(circumstances.provider, collective, algorithm) || algorithm == Algorithm::kDefault ||
          !can_carry(algorithm, bytes, circumstances)) {
        continue;
      }
      const double us = estimate_us(collective, algorithm, bytes, circumstances);
      if (best.algorithm != Algorithm::kAuto && us >= least) continue;
      best.algorithm = algorithm;
      least = us;
    }
    if (!rules->empty() && rules->back().algorithm == best.algorithm) rules->pop_back();
    rules->push_back(best);
  }
  rules->back().bytes = kAny;
}

void add_rules_on_gpu(int32_t collective, const Circumstances& circumstances, std::vector<Rule>* rules) {
  if (circumstances.lanes == 0) {
    rules->push_back({kAny, Algorithm::kDefault});
    return;
  }
  // The tables are of NVLink, and no host with GPUs on PCI Express alone was at hand.
  if (circumstances.pcie) return add_rules_by_cost(collective, circumstances, rules);
  const kernels::Tuning& tuning = circumstances.tuning == nullptr ? kernels::h200_tuning() : *circumstances.tuning;
  const kernels::TuningRows& rows = kernels::rows_of(tuning, collective, circumstances.pes, circumstances.lanes);
  for (int32_t row = 0; row < rows.count; ++row) {
    const kernels::TuningRow& tuned = rows.rows[row];
    rules->push_back({kernels::bytes_of(tuned, circumstances.pes), tuned.algorithm});
  }
}

// Between three nodes and more: from here on, bytes cost more than a second trip. By reasoning, not measured: no three
// hosts were at hand that do not share their CPUs.
constexpr uint64_t kScatteredBytes = 256 * 1024;

// Of several PEs on a node: so many messages at once take longer than the steps inside the nodes that one trip saves.
// By reasoning, at half a microsecond each.
constexpr int32_t kMostFarPes = 16;

void add_rules_on_nodes(int32_t collective, const Circumstances& circumstances, std::vector<Rule>* rules) {
  if (collective == SPARKGAP_ALL_REDUCE) {
    // In one trip every PE sends to every far one, which PEs that share cores do one after the other.
    const int32_t far = circumstances.pes - circumstances.pes / circumstances.nodes;
    const bool many_sends =
        circumstances.pes > circumstances.nodes && (circumstances.any_oversubscribed || far > kMostFarPes);
    if (!many_sends) rules->push_back({circumstances.one_trip_bytes, Algorithm::kOneTrip});
  }
  if (has_algorithm(ProviderKind::kNodes, collective, Algorithm::kScattered) && circumstances.nodes > 2) {
    rules->push_back({kScatteredBytes - 1, Algorithm::kRails});
    rules->push_back({kAny, Algorithm::kScattered});
  }
  switch (collective) {
    case SPARKGAP_ALL_TO_ALL:
    case SPARKGAP_ALL_TO_ALLV:
      return rules->push_back({kAny, Algorithm::kPairs});
    case SPARKGAP_BARRIER:
      return rules->push_back({kAny, Algorithm::kOneTrip});
    default:
      return rules->push_back({kAny, Algorithm::kRails});
  }
}

}  // namespace

void add_rules(int32_t collective, const Circumstances& circumstances, std::vector<Rule>* rules) {
  switch (circumstances.provider) {
    case ProviderKind::kHost:
      return add_rules_on_host(collective, circumstances, rules);
    case ProviderKind::kNodes:
      return add_rules_on_nodes(collective, circumstances, rules);
    default:
      return add_rules_on_gpu(collective, circumstances, rules);
  }
}

Capacity capacity_of(Algorithm algorithm, const Circumstances& circumstances) {
  if (circumstances.provider == ProviderKind::kNodes) {
    return {true, algorithm == Algorithm::kOneTrip ? circumstances.one_trip_bytes : kAny};
  }
  if (circumstances.provider == ProviderKind::kHost) {
    return {true, algorithm == Algorithm::kPackets ? kMaxPacketDataBytes : kAny};
  }
  if (algorithm == Algorithm::kDefault) {
    return {circumstances.provider == ProviderKind::kNccl || circumstances.nccl_beside, kAny};
  }
  const uint64_t peers = static_cast<uint64_t>(std::max(1, circumstances.pes - 1));
  uint64_t bytes = kAny;
  if (algorithm == Algorithm::kPackets) bytes = kernels::kPacketBytes / peers;
  if (algorithm == Algorithm::kLines) bytes = kernels::kLineBytes / peers;
  return {circumstances.lanes > 0, bytes};
}

}  // namespace sparkgap
