// allToAllv between nodes: as allToAll, in as many pieces as each pair needs. What a PE sends to another it first tells
// that one, which compares it with what it expects.
//
//   counts, to and from each far PE
//   piece k of the block for each far PE --> that PE      (while it has one)
//   piece k of each far PE, as it has come --copy--> its block of `out`
//
// Any memory, in place (same counts and offsets both ways) or not.
#include <algorithm>

#include "collective/chunks.h"
#include "collective/nodes_algorithms.h"

namespace sparkgap {
namespace {

[[noreturn]] void refuse_counts(HostNodes& nodes, int32_t peer, uint64_t sent, uint64_t expected) {
  Failure failure;
  failure.status = SPARKGAP_MISMATCH;
  failure.pe = peer;
  Text(failure.message, sizeof failure.message)
      .add("allToAllv: PE %d (%s) sends %llu elements to PE %d (%s), which expects %llu from it", peer,
           nodes.channels().label(peer), static_cast<unsigned long long>(sent), nodes.pe(),
           nodes.channels().label(nodes.pe()), static_cast<unsigned long long>(expected));
  nodes.near().node().waiter().give_up(failure);
}

void exchange_counts(HostNodes& nodes, const CollectiveCall& call) {
  Channels& channels = nodes.channels();
  for (const int32_t peer : nodes.far()) channels.send(peer, &call.send_counts[peer], sizeof(uint64_t));
  for (const int32_t peer : nodes.far()) {
    uint64_t sent = 0;
    std::memcpy(&sent, channels.receive(peer, sizeof sent), sizeof sent);
    channels.release(peer);
    if (sent != call.receive_counts[peer]) refuse_counts(nodes, peer, sent, call.receive_counts[peer]);
  }
}

}  // namespace

void all_to_allv_pairs(HostNodes& nodes, const CollectiveCall& call) {
  Channels& channels = nodes.channels();
  const uint64_t element = element_bytes(call.type);
  const uint64_t chunk = channels.message_bytes();
  exchange_counts(nodes, call);
  uint64_t largest = 0;
  for (const int32_t peer : nodes.far()) {
    largest = std::max({largest, call.send_counts[peer] * element, call.receive_counts[peer] * element});
  }
  const auto left = [&](uint64_t count, uint64_t first) {
    return count * element > first ? std::min(chunk, count * element - first) : 0;
  };
  for_each_chunk(largest, chunk, [&](uint64_t first, uint64_t) {
    for (const int32_t peer : nodes.far()) {
      const uint64_t bytes = left(call.send_counts[peer], first);
      if (bytes > 0) channels.send(peer, advance(call.in, call.send_offsets[peer] * element + first), bytes);
    }
    for (const int32_t peer : nodes.far()) {
      const uint64_t bytes = left(call.receive_counts[peer], first);
      if (bytes == 0) continue;
      const uint8_t* data = channels.receive(peer, bytes);
      // In place, it takes the room of what was sent there.
      if (call.in == call.out) channels.wait_sent(peer, channels.sent(peer));
      std::memcpy(advance(call.out, call.receive_offsets[peer] * element + first), data, bytes);
      channels.release(peer);
    }
  });

  CollectiveCall near = call;
  const int32_t first = nodes.map().first(nodes.own());
  near.send_counts += first;
  near.send_offsets += first;
  near.receive_counts += first;
  near.receive_offsets += first;
  all_to_allv_staged(nodes.near(), near);
}

}  // namespace sparkgap
