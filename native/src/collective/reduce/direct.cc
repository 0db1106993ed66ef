// reduce out of symmetric arrays: the root reduces all arrays from where they lie.
//
//   step 1: where the arrays lie      root: all arrays --reduce--> out      step 2: meet
//
// In place or not; `out` and the root's `in` may be any memory. False, with nothing done, if another PE's `in` is not
// in the symmetric heap.
#include "collective/direct.h"

#include "collective/host_algorithms.h"

namespace sparkgap {

bool reduce_direct(HostNode& node, const CollectiveCall& call) {
  const bool is_root = node.pe() == call.root;
  const DirectArrays ins(node, call.in, given_bytes(call), DirectArrays::Use::kAddress,
                         is_root ? DirectArrays::Role::kNotRead : DirectArrays::Role::kRead);
  if (!ins.usable()) return false;
  if (is_root) {
    const void* arrays[SPARKGAP_MAX_PES];
    for (int32_t pe = 0; pe < node.pes(); ++pe) arrays[pe] = pe == call.root ? call.in : ins.of(pe);
    reduce_to_out(call)(call.out, arrays, node.pes(), call.count);
  }
  node.steps().meet();
  return true;
}

}  // namespace sparkgap
