// allReduce between nodes, one trip: every PE sends what it has to every PE of the other nodes, and to those of its own
// by their slots.
//
//   in --> every far PE's inbox;  --> own slot, post, wait for all (only where there are others in the node)
//   what came of each node's PEs --reduce--> that node's part;  the parts --reduce--> out
//
// One wait for each PE. Any memory, in place or not: `out` is written when all that was sent has left `in`.
#include "collective/chunks.h"
#include "collective/nodes_algorithms.h"

namespace sparkgap {

void all_reduce_one_trip(HostNodes& nodes, const CollectiveCall& call) {
  Channels& channels = nodes.channels();
  const NodeMap& map = nodes.map();
  const uint64_t bytes = given_bytes(call);
  const uint64_t count = call.count;
  const Finish finish(nodes, call);
  for (const int32_t peer : nodes.far()) channels.send(peer, call.in, bytes);

  Steps& steps = nodes.near().steps();
  if (!nodes.is_alone()) {
    steps.begin();
    std::memcpy(steps.slot(nodes.near().pe()), call.in, bytes);
    steps.post();
    steps.wait_for_all();
  }

  const void* parts[SPARKGAP_MAX_PES];
  const void* of_pes[SPARKGAP_MAX_PES];
  for (int32_t node = 0; node < map.nodes(); ++node) {
    const int32_t pes = map.size(node);
    for (int32_t i = 0; i < pes; ++i) {
      const int32_t pe = map.first(node) + i;
      if (pe == nodes.pe()) {
        of_pes[i] = call.in;
      } else {
        of_pes[i] = node == nodes.own() ? steps.slot(i) : channels.receive(pe, bytes);
      }
    }
    parts[node] = of_pes[0];
    if (pes == 1) continue;
    uint8_t* part = nodes.scratch(static_cast<uint64_t>(node), bytes);
    finish.sum()(part, of_pes, pes, count);
    parts[node] = part;
  }
  if (call.in == call.out) channels.flush();
  finish(call.out, parts, bytes);
  for (const int32_t peer : nodes.far()) channels.release(peer);
}

}  // namespace sparkgap
