#include "collective/algorithms.h"

#include "protocol/control.h"
#include "select/routes.h"

namespace sparkgap::test {
namespace {

constexpr uint64_t kLargestThreshold = uint64_t{64} << 20;

// The sizes at which `differs` from the size before, found by bisection between powers of two.
template <class ValueOf>
std::vector<uint64_t> changes(const ValueOf& value_of) {
  std::vector<uint64_t> sizes;
  for (uint64_t low = 1; low < kLargestThreshold; low *= 2) {
    uint64_t before = low;
    uint64_t after = low * 2;
    if (value_of(before) == value_of(after)) continue;
    while (after - before > 1) {
      const uint64_t middle = before + (after - before) / 2;
      (value_of(middle) == value_of(before) ? before : after) = middle;
    }
    sizes.push_back(after);
  }
  return sizes;
}

}  // namespace

std::vector<const char*> algorithms_of(int32_t collective, ProviderKind provider) {
  std::vector<const char*> algorithms = {"auto"};
  for (int32_t number = 1; number < kAlgorithms; ++number) {
    const Algorithm algorithm = static_cast<Algorithm>(number);
    if (has_algorithm(provider, collective, algorithm)) algorithms.push_back(algorithm_name(algorithm));
  }
  return algorithms;
}

std::vector<uint64_t> threshold_bytes(int32_t collective, int pes, ProviderKind provider) {
  // Between nodes: a channel's slot, a piece on two rails, a PE's slot with several blocks, one trip or not.
  if (provider == ProviderKind::kNodes) {
    return {512, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, (1 << 20) + 64};
  }
  const uint64_t slot = ControlLayout::of(pes).slot_bytes;
  std::vector<uint64_t> sizes = {kPacketDataBytes, kMaxPacketDataBytes, slot, slot / static_cast<uint64_t>(pes),
                                 2 * slot};
  for (const bool oversubscribed : {false, true}) {
    Circumstances circumstances;
    circumstances.pes = pes;
    circumstances.oversubscribed = oversubscribed;
    Routes routes;
    routes.make(circumstances);
    const auto selected = changes([&](uint64_t bytes) { return routes.choose(collective, bytes); });
    sizes.insert(sizes.end(), selected.begin(), selected.end());
  }
  return sizes;
}

}  // namespace sparkgap::test
