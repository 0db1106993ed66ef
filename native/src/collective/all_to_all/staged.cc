// allToAll through slots.
//
//   In each step a piece of every block travels:   slot: | for PE 0 | for PE 1 | ... |
//   PE p copies the p-th piece of every slot into the sender's block of its `out`.
//
// Any memory, in place or not: a piece of a block of `out` is written after that piece of all blocks of `in` was
// copied.
#include "collective/chunks.h"
#include "collective/host_algorithms.h"

namespace sparkgap {

bool all_to_all_staged(HostNode& node, const CollectiveCall& call) {
  const uint64_t bytes_per_pe = given_bytes(call);
  Steps& steps = node.steps();
  const uint64_t own = static_cast<uint64_t>(node.pe());
  const uint64_t most = elements_of_block(steps, static_cast<uint64_t>(node.pes()), 1);
  for_each_chunk(bytes_per_pe, most, [&](uint64_t first, uint64_t bytes) {
    steps.begin();
    uint8_t* slot = steps.slot(node.pe());
    for (uint64_t peer = 0; peer < static_cast<uint64_t>(node.pes()); ++peer) {
      if (peer != own) std::memcpy(slot + peer * most, advance(call.in, peer * bytes_per_pe + first), bytes);
    }
    steps.post();
    const uint64_t own_piece = own * bytes_per_pe + first;
    if (call.in != call.out) std::memcpy(advance(call.out, own_piece), advance(call.in, own_piece), bytes);
    for (int32_t i = 1; i < node.pes(); ++i) {
      const int32_t peer = node.neighbour(i);
      steps.wait_for(peer);
      std::memcpy(advance(call.out, static_cast<uint64_t>(peer) * bytes_per_pe + first), steps.slot(peer) + own * most,
                  bytes);
    }
  });
  return true;
}

}  // namespace sparkgap
