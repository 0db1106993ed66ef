// What a call by rails is: a message, or each of its blocks, in pieces, on a PE that is alone in its node or not.
//
// A rail joins PEs of the same number in all nodes.
#ifndef SPARKGAP_COLLECTIVE_RAILS_CALL_H
#define SPARKGAP_COLLECTIVE_RAILS_CALL_H

#include <algorithm>
#include <cstdint>

#include "collective/chunks.h"
#include "collective/host_nodes.h"

namespace sparkgap {

class RailsCall {
 public:
  void run() {
    if (nodes_.is_alone()) {
      run_alone();
    } else {
      run_together();
    }
  }

 protected:
  RailsCall(HostNodes& nodes, const CollectiveCall& call, uint64_t piece_bytes)
      : nodes_(nodes),
        channels_(nodes.channels()),
        map_(nodes.map()),
        call_(call),
        bytes_(given_bytes(call)),
        piece_bytes_(piece_bytes),
        pieces_((bytes_ + piece_bytes - 1) / piece_bytes) {}
  ~RailsCall() = default;

  virtual void run_alone() = 0;
  // In steps of the node.
  virtual void run_together() = 0;

  uint64_t begin_of(uint64_t piece) const { return piece * piece_bytes_; }
  uint64_t bytes_of(uint64_t piece) const { return std::min(piece_bytes_, bytes_ - begin_of(piece)); }

  HostNodes& nodes_;
  Channels& channels_;
  const NodeMap& map_;
  const CollectiveCall& call_;
  const uint64_t bytes_;  // of the message, or of a block
  const uint64_t piece_bytes_;
  const uint64_t pieces_;
};

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_RAILS_CALL_H
