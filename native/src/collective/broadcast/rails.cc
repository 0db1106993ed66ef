// broadcast between nodes: the root sends each piece to one PE of each other node, which hands it on by its slot, as
// the root does in its own node.
//
//   piece k of the root's `in` --> a slot of one PE of each other node;  --> the root's slot      post
//   in another node: what has come --copy--> that PE's slot and out      post
//   the others: wait for the one that has it, its slot --copy--> out
//
// Nobody waits for those that only take, but for a free slot. Any memory, in place or not.
#include <algorithm>

#include "collective/chunks.h"
#include "collective/nodes_algorithms.h"

namespace sparkgap {

void broadcast_rails(HostNodes& nodes, const CollectiveCall& call) {
  Channels& channels = nodes.channels();
  const NodeMap& map = nodes.map();
  HostNode& near = nodes.near();
  Steps& steps = near.steps();
  const CopyFunction copy_out = copy_to_out(call);
  const bool is_root = nodes.pe() == call.root;
  const bool in_root_node = map.is_near(call.root);
  // Who has it first in this node.
  const int32_t first_pe = in_root_node ? call.root : map.partner(nodes.own(), call.root);
  const bool is_first = nodes.pe() == first_pe;
  const uint64_t chunk = nodes.chunk_bytes([](int32_t) { return 1; });
  for_each_chunk(given_bytes(call), chunk, [&](uint64_t first, uint64_t bytes) {
    uint8_t* out = advance(call.out, first);
    const uint8_t* data = nullptr;
    if (is_root) {
      data = advance(call.in, first);
      for (int32_t node = 0; node < map.nodes(); ++node) {
        if (node != nodes.own()) channels.send(map.partner(node, call.root), data, bytes);
      }
    } else if (is_first) {
      data = channels.receive(call.root);
    }
    if (!nodes.is_alone()) {
      steps.begin();
      if (is_first) std::memcpy(steps.slot(near.pe()), data, bytes);
      steps.post();
      if (!is_first) {
        const int32_t source = near.node().local_pe(first_pe);
        steps.wait_for(source);
        data = steps.slot(source);
      }
    }
    if (data != out) copy_out(out, data, bytes);
    if (is_first && !is_root) channels.release(call.root);
  });
}

}  // namespace sparkgap
