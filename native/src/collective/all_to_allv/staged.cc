#include "collective/all_to_allv/staged.h"

#include "collective/chunks.h"

namespace sparkgap {
namespace {

[[noreturn]] void refuse_counts(World& world, int32_t peer, uint64_t sent, uint64_t expected) {
  Failure failure;
  failure.status = SPARKGAP_MISMATCH;
  failure.pe = peer;
  Text(failure.message, sizeof failure.message)
      .add("allToAllv: PE %d (%s) sends %llu elements to PE %d (%s), which expects %llu from it", peer,
           world.control().record(peer).label, static_cast<unsigned long long>(sent), world.pe(),
           world.control().record(world.pe()).label, static_cast<unsigned long long>(expected));
  world.waiter().give_up(failure);
}

// Returns the largest count from any PE to any other.
uint64_t exchange_counts(World& world, const uint64_t* send_counts, const uint64_t* receive_counts) {
  Steps& steps = world.steps();
  const size_t pes = static_cast<size_t>(world.pes());
  steps.begin();
  std::memcpy(steps.slot(world.pe()), send_counts, pes * sizeof(uint64_t));
  steps.post();
  steps.wait_for_all();
  uint64_t largest = 0;
  for (int32_t peer = 0; peer < world.pes(); ++peer) {
    const uint64_t* sent = reinterpret_cast<const uint64_t*>(steps.slot(peer));
    if (sent[world.pe()] != receive_counts[peer]) refuse_counts(world, peer, sent[world.pe()], receive_counts[peer]);
    largest = std::max(largest, *std::max_element(sent, sent + pes));
  }
  return largest;
}

// How many of `most` elements from `first` on a block of `count` still has.
uint64_t left_of(uint64_t count, uint64_t first, uint64_t most) {
  return count > first ? std::min(most, count - first) : 0;
}

}  // namespace

void all_to_allv_staged(World& world, const void* in, const BlockTable& send, void* out, const BlockTable& receive,
                        uint64_t element_bytes) {
  Steps& steps = world.steps();
  const int32_t own = world.pe();
  const uint64_t largest = exchange_counts(world, send.counts, receive.counts);
  const uint64_t most = elements_of_block(steps, static_cast<uint64_t>(world.pes()), element_bytes);
  const uint64_t stride = most * element_bytes;
  for_each_chunk(largest, most, [&](uint64_t first, uint64_t) {
    const auto source = [&](int32_t peer) { return advance(in, (send.offsets[peer] + first) * element_bytes); };
    const auto target = [&](int32_t peer) { return advance(out, (receive.offsets[peer] + first) * element_bytes); };
    const auto sent = [&](int32_t peer) { return left_of(send.counts[peer], first, most) * element_bytes; };
    const auto received = [&](int32_t peer) { return left_of(receive.counts[peer], first, most) * element_bytes; };

    steps.begin();
    for (int32_t peer = 0; peer < world.pes(); ++peer) {
      if (peer != own && sent(peer) > 0) {
        std::memcpy(steps.slot(own) + static_cast<uint64_t>(peer) * stride, source(peer), sent(peer));
      }
    }
    steps.post();
    if (sent(own) > 0 && source(own) != target(own)) std::memcpy(target(own), source(own), sent(own));
    for (int32_t i = 1; i < world.pes(); ++i) {
      const int32_t peer = world.neighbour(i);
      steps.wait_for(peer);
      if (received(peer) == 0) continue;
      std::memcpy(target(peer), steps.slot(peer) + static_cast<uint64_t>(own) * stride, received(peer));
    }
  });
}

}  // namespace sparkgap
