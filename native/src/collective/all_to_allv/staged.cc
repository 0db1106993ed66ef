// allToAllv through slots.
//
//   Step 1 tells sizes:  slot: | count for PE 0 | count for PE 1 | ... |     each PE compares them with what it expects
//   (a difference aborts the world with both numbers), and all take the largest count of the world, so that all make
//   the same number of further steps. Those are as in allToAll, with what is left of each block.
//
// Any memory, in place (same counts and offsets both ways) or not.
#include "collective/chunks.h"
#include "collective/host_algorithms.h"

namespace sparkgap {
namespace {

[[noreturn]] void refuse_counts(HostNode& node, int32_t peer, uint64_t sent, uint64_t expected) {
  const Node& pes = node.node();
  Failure failure;
  failure.status = SPARKGAP_MISMATCH;
  failure.pe = pes.world_pe(peer);
  Text(failure.message, sizeof failure.message)
      .add("allToAllv: PE %d (%s) sends %llu elements to PE %d (%s), which expects %llu from it", failure.pe,
           pes.label(peer).c_str(), static_cast<unsigned long long>(sent), pes.world_pe(node.pe()),
           pes.label(node.pe()).c_str(), static_cast<unsigned long long>(expected));
  node.node().waiter().give_up(failure);
}

// Returns the largest count from any PE to any other.
uint64_t exchange_counts(HostNode& node, const uint64_t* send_counts, const uint64_t* receive_counts) {
  Steps& steps = node.steps();
  const size_t pes = static_cast<size_t>(node.pes());
  steps.begin();
  std::memcpy(steps.slot(node.pe()), send_counts, pes * sizeof(uint64_t));
  steps.post();
  steps.wait_for_all();
  uint64_t largest = 0;
  for (int32_t peer = 0; peer < node.pes(); ++peer) {
    const uint64_t* sent = reinterpret_cast<const uint64_t*>(steps.slot(peer));
    if (sent[node.pe()] != receive_counts[peer]) refuse_counts(node, peer, sent[node.pe()], receive_counts[peer]);
    largest = std::max(largest, *std::max_element(sent, sent + pes));
  }
  return largest;
}

// How many of `most` elements from `first` on a block of `count` still has.
uint64_t left_of(uint64_t count, uint64_t first, uint64_t most) {
  return count > first ? std::min(most, count - first) : 0;
}

}  // namespace

bool all_to_allv_staged(HostNode& node, const CollectiveCall& call) {
  const uint64_t element = element_bytes(call.type);
  Steps& steps = node.steps();
  const int32_t own = node.pe();
  const uint64_t largest = exchange_counts(node, call.send_counts, call.receive_counts);
  const uint64_t most = elements_of_block(steps, static_cast<uint64_t>(node.pes()), element);
  const uint64_t stride = most * element;
  for_each_chunk(largest, most, [&](uint64_t first, uint64_t) {
    const auto source = [&](int32_t peer) { return advance(call.in, (call.send_offsets[peer] + first) * element); };
    const auto target = [&](int32_t peer) { return advance(call.out, (call.receive_offsets[peer] + first) * element); };
    const auto sent = [&](int32_t peer) { return left_of(call.send_counts[peer], first, most) * element; };
    const auto received = [&](int32_t peer) { return left_of(call.receive_counts[peer], first, most) * element; };

    steps.begin();
    for (int32_t peer = 0; peer < node.pes(); ++peer) {
      if (peer != own && sent(peer) > 0) {
        std::memcpy(steps.slot(own) + static_cast<uint64_t>(peer) * stride, source(peer), sent(peer));
      }
    }
    steps.post();
    if (sent(own) > 0 && source(own) != target(own)) std::memcpy(target(own), source(own), sent(own));
    for (int32_t i = 1; i < node.pes(); ++i) {
      const int32_t peer = node.neighbour(i);
      steps.wait_for(peer);
      if (received(peer) == 0) continue;
      std::memcpy(target(peer), steps.slot(peer) + static_cast<uint64_t>(own) * stride, received(peer));
    }
  });
  return true;
}

}  // namespace sparkgap
