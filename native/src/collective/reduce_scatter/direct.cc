// reduceScatter of arrays where they lie: every PE reduces its block of all of them.
//
//   step 1: where the arrays lie      own block of all --reduce--> out      step 2, if they are not in slots: meet
//
// In place (out == own block of in, which nobody else reads) or not; `out` may be any memory. False, with nothing done,
// if a PE's `in` is out of the others' reach.
#include "collective/direct.h"

#include "collective/host_algorithms.h"

namespace sparkgap {

bool reduce_scatter_direct(HostNode& node, const CollectiveCall& call) {
  const uint64_t bytes_per_pe = given_bytes(call);
  DirectArrays ins(node, {call.in, static_cast<uint64_t>(node.pes()) * bytes_per_pe, bytes_per_pe},
                   DirectArrays::Use::kAddress);
  if (!ins.find()) return false;
  const void* blocks[SPARKGAP_MAX_PES];
  for (int32_t pe = 0; pe < node.pes(); ++pe) {
    blocks[pe] = ins.of(pe) + static_cast<uint64_t>(node.pe()) * bytes_per_pe;
  }
  reduce_of(call)(call.out, blocks, node.pes(), call.count);
  return ins.finish();
}

}  // namespace sparkgap
