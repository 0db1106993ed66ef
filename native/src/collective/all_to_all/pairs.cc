// allToAll between nodes: a PE sends each far PE its block, piece by piece, and those of its node exchange theirs as in
// a world of their own.
//
//   piece k of each far PE's block of `in` --> that PE, kWindow pieces ahead
//   piece k of each far PE, as it has come --copy--> its block of `out`
//
// Any memory, in place or not: a piece is overwritten when it has left.
#include <algorithm>

#include "collective/chunks.h"
#include "collective/nodes_algorithms.h"

namespace sparkgap {

void all_to_all_pairs(HostNodes& nodes, const CollectiveCall& call) {
  Channels& channels = nodes.channels();
  const uint64_t block = given_bytes(call);
  const uint64_t chunk = channels.message_bytes();
  const uint64_t chunks = (block + chunk - 1) / chunk;
  const CopyFunction copy_out = copy_to_out(call);
  const auto offset = [&](int32_t pe, uint64_t number) { return static_cast<uint64_t>(pe) * block + number * chunk; };
  const auto bytes = [&](uint64_t number) { return std::min(chunk, block - number * chunk); };
  // In place, what is ahead may not be overwritten before it has left; one piece at a time is enough then.
  const uint64_t window = call.in == call.out ? 1 : HostNodes::kWindow;
  uint64_t next = 0;
  for (uint64_t number = 0; number < chunks; ++number) {
    for (; next < chunks && next < number + window; ++next) {
      for (const int32_t peer : nodes.far()) channels.send(peer, advance(call.in, offset(peer, next)), bytes(next));
    }
    for (const int32_t peer : nodes.far()) {
      const uint8_t* data = channels.receive(peer, bytes(number));
      if (call.in == call.out) channels.wait_sent(peer, channels.sent(peer));
      copy_out(advance(call.out, offset(peer, number)), data, bytes(number));
      channels.release(peer);
    }
  }

  CollectiveCall near = call;
  const uint64_t first = static_cast<uint64_t>(nodes.map().first(nodes.own())) * block;
  near.in = advance(call.in, first);
  near.out = advance(call.out, first);
  all_to_all_staged(nodes.near(), near);
}

}  // namespace sparkgap
