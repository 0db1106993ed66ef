// broadcast between nodes: the root sends each piece to one PE of each other node, which hands it on by its slot, as
// the root does in its own node.
//
//   piece k of the root's `in` --> one PE of each other node;  --> the root's slot      post
//   in another node: what has come --copy--> that PE's slot and out      post
//   the others: wait for the one that has it, its slot --copy--> out
//
// Scattered, the root sends piece k to one of the other nodes in turn, whose PE hands it on to the rest:
//
//   what has come --copy--> out --> one PE of each node but its own and the root's
//
// so that the message leaves the root's node once and not once for each other node. A piece then takes two trips.
//
// Nobody waits for those that only take, but for free room. Any memory, in place or not.
#include "collective/rails.h"

#include <algorithm>

#include "collective/chunks.h"
#include "collective/nodes_algorithms.h"

namespace sparkgap {

void broadcast_by_rails(HostNodes& nodes, const CollectiveCall& call, bool scattered) {
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
  const int32_t root_node = map.node_of(call.root);
  int32_t relay = kNoPe;  // the node that hands this piece on
  int32_t turn = 0;
  const uint64_t chunk = nodes.chunk_bytes([](int32_t) { return 1; });
  for_each_chunk(given_bytes(call), chunk, [&](uint64_t first, uint64_t bytes) {
    uint8_t* out = advance(call.out, first);
    const uint8_t* data = nullptr;
    int32_t source = call.root;
    bool is_in_out = false;
    if (scattered) {
      relay = (root_node + 1 + turn) % map.nodes();
      turn = (turn + 1) % (map.nodes() - 1);
      if (relay != nodes.own()) source = map.partner(relay, call.root);
    }
    if (is_root) {
      data = advance(call.in, first);
      for (int32_t node = 0; node < map.nodes(); ++node) {
        const bool is_asked = !scattered || node == relay;
        if (node != nodes.own() && is_asked) channels.send(map.partner(node, call.root), data, bytes);
      }
    } else if (is_first) {
      data = channels.receive(source, bytes);
      if (relay == nodes.own()) {
        // From where it stays until all has been sent.
        copy_out(out, data, bytes);
        is_in_out = true;
        for (int32_t node = 0; node < map.nodes(); ++node) {
          if (node != relay && node != root_node) channels.send(map.partner(node, call.root), out, bytes);
        }
      }
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
    if (data != out && !is_in_out) copy_out(out, data, bytes);
    if (is_first && !is_root) channels.release(source);
  });
}

void broadcast_rails(HostNodes& nodes, const CollectiveCall& call) { broadcast_by_rails(nodes, call, false); }

}  // namespace sparkgap
