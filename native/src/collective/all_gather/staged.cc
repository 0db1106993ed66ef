// allGather through slots: in each step a piece of every PE's block travels in that PE's slot, and every PE copies it
// out. Any memory, in place (in == own block of out) or not.
#include "collective/chunks.h"
#include "collective/host_algorithms.h"

namespace sparkgap {

bool all_gather_staged(HostNode& node, const CollectiveCall& call) {
  Steps& steps = node.steps();
  const uint64_t bytes_per_pe = given_bytes(call);
  uint8_t* own_block = advance(call.out, static_cast<uint64_t>(node.pe()) * bytes_per_pe);
  for_each_chunk(bytes_per_pe, steps.slot_bytes(), [&](uint64_t first, uint64_t bytes) {
    steps.begin();
    std::memcpy(steps.slot(node.pe()), advance(call.in, first), bytes);
    steps.post();
    if (own_block != call.in) std::memcpy(own_block + first, advance(call.in, first), bytes);
    for (int32_t i = 1; i < node.pes(); ++i) {
      const int32_t peer = node.neighbour(i);
      steps.wait_for(peer);
      std::memcpy(advance(call.out, static_cast<uint64_t>(peer) * bytes_per_pe + first), steps.slot(peer), bytes);
    }
  });
  return true;
}

}  // namespace sparkgap
