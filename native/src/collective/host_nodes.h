// What an algorithm on the host memory of several nodes works with: the PEs of its own node, with their slots and
// steps, and a channel to each PE of the others.
//
// Reductions go node by node: what the PEs of a node have in their order, and that of the nodes in theirs. So all PEs
// hold the same bits, and the next run gives them again; it is not the order of a world on one node.
#ifndef SPARKGAP_COLLECTIVE_HOST_NODES_H
#define SPARKGAP_COLLECTIVE_HOST_NODES_H

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "collective/host_node.h"
#include "description/call.h"
#include "protocol/nodes/nodes.h"
#include "reduce/reduce.h"

namespace sparkgap {

class HostNodes {
 public:
  // A piece is on the wire for so many steps of the node before it is waited for.
  static constexpr uint64_t kDelay = 2;
  // Pieces that a PE without others in its node has on the wire.
  static constexpr uint64_t kWindow = 4;
  static_assert(kWindow <= Channels::kMessagesAhead && kDelay < Channels::kMessagesAhead,
                "what is on the way has room");

  HostNodes(HostNode& near, Nodes& nodes, int32_t pe);

  HostNode& near() { return near_; }
  Channels& channels() { return channels_; }
  const NodeMap& map() const { return map_; }
  // As the world numbers them.
  int32_t pe() const { return pe_; }
  int32_t pes() const { return pes_; }
  bool is_alone() const { return near_.pes() == 1; }
  int32_t own() const { return map_.own(); }
  const std::vector<int32_t>& far() const { return channels_.peers(); }

  // Up to here an allReduce goes from every PE to every other in one trip, in a world whose smallest node has so many.
  static uint64_t one_trip_bytes(int32_t pes, int32_t smallest_node, uint64_t message_bytes);
  // What fits a message, and a slot of a node's PE together with `blocks - 1` others; the same on all PEs.
  // `blocks(n)` for a node of n PEs.
  template <class Blocks>
  uint64_t chunk_bytes(const Blocks& blocks) const {
    uint64_t bytes = channels_.message_bytes();
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      const int32_t pes = map_.size(node);
      if (pes > 1) bytes = std::min(bytes, ControlLayout::of(pes).slot_bytes / blocks(pes));
    }
    return bytes / kLineBytes * kLineBytes;
  }
  // Most PEs of other nodes that one PE of a node of `pes` has to do with.
  uint64_t most_partners(int32_t pes) const;

  // Room for intermediate results: of `number`, `bytes` each, no more than scratch_bytes() in all.
  uint8_t* scratch(uint64_t number, uint64_t bytes) { return scratch_.get() + number * bytes; }
  static constexpr uint64_t kScratchSlots = 4 * (kDelay + 1);

  // Every PE comes here before any goes on.
  void meet() { nodes_.meet(); }

 private:
  friend class Finish;

  HostNode& near_;
  Nodes& nodes_;
  Channels& channels_;
  const NodeMap& map_;
  const int32_t pe_;
  const int32_t pes_;
  const std::unique_ptr<uint8_t[]> scratch_;
  const std::unique_ptr<uint8_t[]> zeros_;
};

// The last part of a reduction: from what each node has to the result. `sum` is the part before: from what the PEs of a
// node have to what the node has.
class Finish {
 public:
  Finish(HostNodes& nodes, const CollectiveCall& call);

  // `parts`: of each node, in their order.
  void operator()(void* out, const void* const* parts, uint64_t bytes) const;

  ReduceFunction sum() const { return sum_; }

 private:
  const uint8_t* zeros_;
  int32_t nodes_;
  int32_t pes_;
  bool divides_by_more_;
  uint64_t element_bytes_;
  ReduceFunction sum_;
  ReduceFunction last_;
};

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_HOST_NODES_H
