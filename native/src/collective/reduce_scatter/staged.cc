// reduceScatter through slots.
//
//   `in` has a block for each PE. In each step a piece of every block travels:
//     slot: | piece of block 0 | piece of block 1 | ... |      each starts on a cache line
//   PE p reads the p-th piece of every slot and reduces it into its `out`.
//
// Any memory, in place (out == own block of in) or not: a piece of `out` is written after that piece of every block of
// `in` was copied.
#include "collective/chunks.h"
#include "collective/host_algorithms.h"

namespace sparkgap {

bool reduce_scatter_staged(HostNode& node, const CollectiveCall& call) {
  const uint64_t element = element_bytes(call.type);
  const ReduceFunction reduce = reduce_of(call);
  Steps& steps = node.steps();
  const uint64_t pes = static_cast<uint64_t>(node.pes());
  const uint64_t own = static_cast<uint64_t>(node.pe());
  const uint64_t most = elements_of_block(steps, pes, element);
  for_each_chunk(call.count, most, [&](uint64_t first, uint64_t number) {
    steps.begin();
    uint8_t* slot = steps.slot(node.pe());
    for (uint64_t block = 0; block < pes; ++block) {
      if (block == own) continue;
      std::memcpy(slot + block * most * element, advance(call.in, (block * call.count + first) * element),
                  number * element);
    }
    steps.post();
    steps.wait_for_all();
    const Inputs inputs(node, steps, advance(call.in, (own * call.count + first) * element), own * most * element);
    reduce(advance(call.out, first * element), inputs, node.pes(), number);
  });
  return true;
}

}  // namespace sparkgap
