// allToAll: every PE copies its block of each other's array from where it lies.
//
//   step 1: where the arrays lie      own blocks of the others --copy--> out      step 2: meet
//
// Not in place: a block would be overwritten before its receiver has it. False if a PE wants it in place, or if a PE's
// array cannot be read; its `in` is as it was.
#include "collective/direct.h"

#include "collective/chunks.h"
#include "collective/host_algorithms.h"

namespace sparkgap {

bool all_to_all_direct(HostNode& node, const CollectiveCall& call) {
  const uint64_t bytes_per_pe = given_bytes(call);
  const CopyFunction copy_out = copy_to_out(call);
  // An array that is not there is one that nobody can read.
  const void* readable = call.in == call.out ? nullptr : call.in;
  DirectArrays ins(node, readable, static_cast<uint64_t>(node.pes()) * bytes_per_pe, DirectArrays::Use::kCopy);
  if (!ins.usable()) return false;
  const uint64_t own_piece = static_cast<uint64_t>(node.pe()) * bytes_per_pe;
  copy_out(advance(call.out, own_piece), advance(call.in, own_piece), bytes_per_pe);
  for (int32_t i = 1; i < node.pes(); ++i) {
    const int32_t peer = node.neighbour(i);
    ins.copy(advance(call.out, static_cast<uint64_t>(peer) * bytes_per_pe), peer, own_piece, bytes_per_pe, copy_out);
  }
  return ins.finish();
}

}  // namespace sparkgap
