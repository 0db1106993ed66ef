// allReduce of arrays where they lie, two-shot in pieces: every PE reduces its part of a piece, then all copy each
// other's parts.
//
//   slot of a PE:  | its part of the result of the piece |
//
//   step 1:       where the arrays lie
//   step 1 + k:   own part of piece k of all arrays --reduce--> own slot, and --copy--> out      post, wait for all
//                 parts of the result of piece k in all slots --copy--> out
//
// Against two-shot it saves the copy of every array into slots, and its pieces are larger. `out` may be any memory, and
// the call be in place: a part of `in` is overwritten after the PE that reads it has posted its result.
// Two PEs whose arrays are in slots reduce all of it each, as in one-shot: that reads no more, and is one step less.
// False, with nothing done, if a PE's `in` is out of the others' reach.
#include "collective/direct.h"

#include "collective/chunks.h"
#include "collective/host_algorithms.h"

namespace sparkgap {

bool all_reduce_direct(HostNode& node, const CollectiveCall& call) {
  const uint64_t total = given_bytes(call);
  const uint64_t element = element_bytes(call.type);
  const ReduceFunction reduce = reduce_of(call);
  const CopyFunction copy_out = copy_to_out(call);
  DirectArrays ins(node, {call.in, total}, DirectArrays::Use::kAddress);
  if (!ins.find()) return false;
  Steps& steps = node.steps();
  const uint64_t pes = static_cast<uint64_t>(node.pes());
  const void* parts[SPARKGAP_MAX_PES];
  if (node.pes() == 2 && ins.all_in_slots()) {
    for (int32_t pe = 0; pe < 2; ++pe) parts[pe] = ins.of(pe);
    reduce(call.out, parts, 2, call.count);
    return true;
  }
  for_each_chunk(total, steps.slot_bytes() * pes, [&](uint64_t first, uint64_t bytes) {
    const Parts piece(bytes, pes);
    const uint64_t begin = first + piece.begin(node.pe());
    const uint64_t size = piece.size(node.pe());
    for (int32_t pe = 0; pe < node.pes(); ++pe) parts[pe] = ins.of(pe) + begin;
    steps.begin();
    uint8_t* result = steps.slot(node.pe());
    reduce(result, parts, node.pes(), size / element);
    copy_out(advance(call.out, begin), result, size);
    steps.post();
    steps.wait_for_all();
    for (int32_t i = 1; i < node.pes(); ++i) {
      const int32_t peer = node.neighbour(i);
      copy_out(advance(call.out, first + piece.begin(peer)), steps.slot(peer), piece.size(peer));
    }
  });
  return true;
}

}  // namespace sparkgap
