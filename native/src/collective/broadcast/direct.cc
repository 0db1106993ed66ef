// broadcast: every PE copies the root's array from where it lies.
//
//   step 1: where it lies      the root's array --copy--> out      step 2, if it is not in the slot: the root waits
//
// In place or not. False if the root's `in` cannot be read; it is as it was.
#include "collective/direct.h"

#include "collective/host_algorithms.h"

namespace sparkgap {

bool broadcast_direct(HostNode& node, const CollectiveCall& call) {
  const uint64_t bytes = given_bytes(call);
  const bool is_root = node.pe() == call.root;
  DirectArrays ins(node, {call.in, bytes}, DirectArrays::Use::kCopy, DirectArrays::Readers::kAllOfRoot, call.root);
  if (!ins.find()) return false;
  if (!is_root || call.in != call.out) ins.copy(call.out, call.root, 0, bytes, copy_to_out(call));
  return ins.finish();
}

}  // namespace sparkgap
