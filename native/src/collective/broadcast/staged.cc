// broadcast through the root's slot: in each step the root copies a piece in, and every other PE copies it out. The
// root does not wait for the step, only, before it writes a slot again, for the step that read it last. Any memory, in
// place or not.
#include "collective/chunks.h"
#include "collective/host_algorithms.h"

namespace sparkgap {

bool broadcast_staged(HostNode& node, const CollectiveCall& call) {
  const uint64_t bytes = given_bytes(call);
  Steps& steps = node.steps();
  const bool is_root = node.pe() == call.root;
  for_each_chunk(bytes, steps.slot_bytes(), [&](uint64_t first, uint64_t number) {
    steps.begin();
    if (is_root) {
      std::memcpy(steps.slot(call.root), advance(call.in, first), number);
      steps.post();
      if (call.in != call.out) std::memcpy(advance(call.out, first), advance(call.in, first), number);
    } else {
      steps.post();
      steps.wait_for(call.root);
      std::memcpy(advance(call.out, first), steps.slot(call.root), number);
    }
  });
  return true;
}

}  // namespace sparkgap
