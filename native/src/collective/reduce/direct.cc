// reduce of arrays where they lie, by the root.
//
//   step 1: where the arrays lie      root: all arrays --reduce--> out
//   step 2, if they are not all in slots: the others wait for the root
//
// In place or not; `out` and the root's `in` may be any memory. False, with nothing done, if another PE's `in` is out
// of reach.
#include "collective/direct.h"

#include "collective/host_algorithms.h"

namespace sparkgap {

bool reduce_direct(HostNode& node, const CollectiveCall& call) {
  DirectArrays ins(node, {call.in, given_bytes(call)}, DirectArrays::Use::kAddress,
                   DirectArrays::Readers::kRootOfOthers, call.root);
  if (!ins.find()) return false;
  if (node.pe() == call.root) {
    const void* arrays[SPARKGAP_MAX_PES];
    for (int32_t pe = 0; pe < node.pes(); ++pe) arrays[pe] = ins.of(pe);
    reduce_to_out(call)(call.out, arrays, node.pes(), call.count);
  }
  return ins.finish();
}

}  // namespace sparkgap
