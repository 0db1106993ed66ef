// allReduce, two-shot in pipelined pieces: every PE reduces its part of a piece, then all copy each other's parts.
//
//   slot of a PE:  | its input of piece k | its part of the result of piece k - 1 |
//
//   step k:   in piece k (but the own part) --copy--> own slot      post, wait for all
//             own part of piece k: in + all slots --reduce--> own slot of step k + 1, and --copy--> out
//             parts of the result of piece k - 1 in all slots --copy--> out
//
// pieces + 1 steps, one wait each. A PE reads (pes - 1) / pes of the message twice, where one-shot reads it pes - 1
// times. Any memory, in place or not: a piece of `out` is written at or after the step in which all of that piece was
// copied.
#include "collective/chunks.h"
#include "collective/host_algorithms.h"

namespace sparkgap {
namespace {

// A piece of the message, from byte `first`, and how the PEs share it.
struct Piece {
  uint64_t first = 0;
  uint64_t bytes = 0;
  Parts parts;
};

// The largest piece that fits a slot together with a part of one.
uint64_t largest_piece(const HostNode& node) {
  const uint64_t pes = static_cast<uint64_t>(node.pes());
  return (node.steps().slot_bytes() * pes / (pes + 1) - kLineBytes) / kLineBytes * kLineBytes;
}

}  // namespace

bool all_reduce_two_shot(HostNode& node, const CollectiveCall& call) {
  const uint64_t total = given_bytes(call);
  const uint64_t element = element_bytes(call.type);
  const ReduceFunction reduce = reduce_of(call);
  const CopyFunction copy_out = copy_to_out(call);
  Steps& steps = node.steps();
  const int32_t own = node.pe();
  const uint64_t pes = static_cast<uint64_t>(node.pes());
  const uint64_t piece_bytes = largest_piece(node);

  Piece before;
  for (uint64_t first = 0; first < total + piece_bytes; first += piece_bytes) {
    const uint64_t bytes = first < total ? std::min(piece_bytes, total - first) : 0;
    const Piece piece = {first, bytes, Parts(bytes, pes)};
    const uint8_t* source = advance(call.in, first);

    steps.begin();
    uint8_t* slot = steps.slot(own);
    const uint64_t begin = piece.parts.begin(own);
    const uint64_t size = piece.parts.size(own);
    const uint64_t end = begin + size;
    std::memcpy(slot, source, begin);
    std::memcpy(slot + end, source + end, bytes - end);
    steps.post();
    steps.wait_for_all();

    if (size > 0) {
      uint8_t* result = steps.next_slot(own) + piece_bytes;
      reduce(result, Inputs(node, steps, source + begin, begin), node.pes(), size / element);
      copy_out(advance(call.out, first + begin), result, size);
    }
    for (int32_t i = 1; i < node.pes(); ++i) {
      const int32_t peer = node.neighbour(i);
      copy_out(advance(call.out, before.first + before.parts.begin(peer)), steps.slot(peer) + piece_bytes,
               before.parts.size(peer));
    }
    before = piece;
  }
  return true;
}

}  // namespace sparkgap
