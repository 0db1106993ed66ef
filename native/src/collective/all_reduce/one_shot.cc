// allReduce, one-shot: every PE reduces everything.
//
//   step s, for each piece that fits a slot:
//     in piece --copy--> own slot          | post, wait for all |      in + all other slots --reduce--> out piece
//
// One wait a piece, pes - 1 reads of the whole message a PE. Slots rotate with the steps (protocol/layout.h). Any
// memory, in place or not: a piece of `out` is written after the same piece of `in` was copied.
#include "collective/chunks.h"
#include "collective/host_algorithms.h"

namespace sparkgap {

bool all_reduce_one_shot(HostNode& node, const CollectiveCall& call) {
  const uint64_t element = element_bytes(call.type);
  const ReduceFunction reduce = reduce_to_out(call);
  Steps& steps = node.steps();
  for_each_chunk(call.count, steps.slot_bytes() / element, [&](uint64_t first, uint64_t number) {
    const uint8_t* own = advance(call.in, first * element);
    steps.begin();
    std::memcpy(steps.slot(node.pe()), own, number * element);
    steps.post();
    steps.wait_for_all();
    reduce(advance(call.out, first * element), Inputs(node, steps, own, 0), node.pes(), number);
  });
  return true;
}

}  // namespace sparkgap
