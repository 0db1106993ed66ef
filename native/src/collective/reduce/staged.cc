// reduce through slots: in each step every PE but the root copies a piece into its slot, and the root reduces them all.
// Only the root waits. Any memory, in place or not.
#include "collective/chunks.h"
#include "collective/host_algorithms.h"

namespace sparkgap {

bool reduce_staged(HostNode& node, const CollectiveCall& call) {
  const uint64_t element = element_bytes(call.type);
  const ReduceFunction reduce = reduce_of(call);
  Steps& steps = node.steps();
  for_each_chunk(call.count, steps.slot_bytes() / element, [&](uint64_t first, uint64_t number) {
    const uint8_t* own = advance(call.in, first * element);
    steps.begin();
    if (node.pe() == call.root) {
      steps.post();
      steps.wait_for_all();
      reduce(advance(call.out, first * element), Inputs(node, steps, own, 0), node.pes(), number);
    } else {
      std::memcpy(steps.slot(node.pe()), own, number * element);
      steps.post();
    }
  });
  return true;
}

}  // namespace sparkgap
