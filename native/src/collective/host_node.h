// What an algorithm on host memory works with: one PE's end of a node, and the symmetric memory that its PEs have.
//
// `pe` and `pes` count in the node (protocol/node.h).
#ifndef SPARKGAP_COLLECTIVE_HOST_NODE_H
#define SPARKGAP_COLLECTIVE_HOST_NODE_H

#include <cstdint>
#include <memory>
#include <vector>

#include "protocol/node.h"
#include "provider/provider.h"

namespace sparkgap {

// A symmetric buffer.
struct HostRange {
  const SymmetricMemory* memory;
  uint64_t bytes;
};

class HostNode {
 public:
  explicit HostNode(Node& node)
      : node_(node),
        steps_(node.steps()),
        pe_(node.pe()),
        pes_(node.pes()),
        scratch_(std::make_unique<uint8_t[]>(static_cast<uint64_t>(node.pes()) * kMaxPacketDataBytes)) {}

  int32_t pe() const { return pe_; }
  int32_t pes() const { return pes_; }
  // The PE `distance` after this one. PEs go through their peers in this order, so that they do not all pull the same
  // lines.
  int32_t neighbour(int32_t distance) const {
    const int32_t pe = pe_ + distance;
    return pe < pes_ ? pe : pe - pes_;
  }
  Node& node() { return node_; }
  const Node& node() const { return node_; }
  Steps& steps() { return steps_; }
  const Steps& steps() const { return steps_; }
  // kMaxPacketDataBytes of this PE's own memory for what comes from `pe`.
  uint8_t* scratch(int32_t pe) { return scratch_.get() + static_cast<uint64_t>(pe) * kMaxPacketDataBytes; }

  // In the order of their allocation, the same on all PEs that have made the same calls.
  std::vector<HostRange>& ranges() { return ranges_; }
  const std::vector<HostRange>& ranges() const { return ranges_; }
  // Where this process sees byte `offset` of what `pe` has of a range.
  uint8_t* at(const HostRange& range, int32_t pe, uint64_t offset) const {
    return range.memory->part(node_.world_pe(pe)) + offset;
  }

  // Whether PEs read each other's processes, where it helps; the same on all of them after the same calls.
  bool reads_processes() const { return reads_processes_; }
  // All PEs, in the same call: one of them could not.
  void forgo_processes() { reads_processes_ = false; }

 private:
  Node& node_;
  Steps& steps_;
  const int32_t pe_;
  const int32_t pes_;
  const std::unique_ptr<uint8_t[]> scratch_;
  std::vector<HostRange> ranges_;
  bool reads_processes_ = true;
};

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_HOST_NODE_H
