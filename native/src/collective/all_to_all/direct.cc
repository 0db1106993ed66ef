// allToAll: every PE copies its block of each other's array from where it lies.
//
//   step 1: where the arrays lie      own blocks of the others --copy--> out
//   step 2, if they are not all in slots: meet
//
// In place, where a block would be overwritten before its receiver has it, they go into slots. False if a PE's array is
// too large for that, or cannot be read, or has to be fetched while another's is in place; its `in` is as it was.
#include "collective/direct.h"

#include "collective/chunks.h"
#include "collective/host_algorithms.h"

namespace sparkgap {

bool all_to_all_direct(HostNode& node, const CollectiveCall& call) {
  const uint64_t bytes_per_pe = given_bytes(call);
  const CopyFunction copy_out = copy_to_out(call);
  const bool in_place = call.in == call.out;
  DirectArrays ins(node, {call.in, static_cast<uint64_t>(node.pes()) * bytes_per_pe, bytes_per_pe, in_place},
                   DirectArrays::Use::kCopy);
  const uint64_t own_piece = static_cast<uint64_t>(node.pe()) * bytes_per_pe;
  if (!in_place) copy_out(advance(call.out, own_piece), advance(call.in, own_piece), bytes_per_pe);
  if (!ins.find()) return false;
  for (int32_t i = 1; i < node.pes(); ++i) {
    const int32_t peer = node.neighbour(i);
    ins.copy(advance(call.out, static_cast<uint64_t>(peer) * bytes_per_pe), peer, own_piece, bytes_per_pe, copy_out);
  }
  return ins.finish();
}

}  // namespace sparkgap
