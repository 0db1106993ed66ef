// allGather: every PE copies each other's block from where it lies.
//
//   step 1: where the blocks lie      blocks of the others --copy--> out      step 2, if they are not in slots: meet
//
// A block crosses once, where staged copies it twice. Any memory that the others can read, in place (in == own block of
// out) or not. False if a PE's block cannot be read; its `in` is as it was.
#include "collective/direct.h"

#include "collective/chunks.h"
#include "collective/host_algorithms.h"

namespace sparkgap {

bool all_gather_direct(HostNode& node, const CollectiveCall& call) {
  const uint64_t bytes = given_bytes(call);
  const CopyFunction copy_out = copy_to_out(call);
  DirectArrays ins(node, {call.in, bytes}, DirectArrays::Use::kCopy);
  uint8_t* own_block = advance(call.out, static_cast<uint64_t>(node.pe()) * bytes);
  if (own_block != call.in) copy_out(own_block, call.in, bytes);
  if (!ins.find()) return false;
  for (int32_t i = 1; i < node.pes(); ++i) {
    const int32_t peer = node.neighbour(i);
    ins.copy(advance(call.out, static_cast<uint64_t>(peer) * bytes), peer, 0, bytes, copy_out);
  }
  return ins.finish();
}

}  // namespace sparkgap
