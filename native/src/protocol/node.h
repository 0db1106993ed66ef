// The PEs that share one control segment, as one of them sees them: how far each is, what it is in, and how to wait.
//
// Inside a node PEs have the numbers 0..pes-1, which index the segment; that is what Steps, Waiter and the algorithms
// count by. A world numbers its PEs node by node, so what people are told is first_pe() more.
//
// Belongs to the thread of the PE's handle.
#ifndef SPARKGAP_PROTOCOL_NODE_H
#define SPARKGAP_PROTOCOL_NODE_H

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "protocol/control.h"
#include "protocol/liveness.h"
#include "protocol/steps.h"
#include "protocol/wait.h"

namespace sparkgap {

class Node {
 public:
  // `pe`: this one's number in the node. `liveness` outlives the node, and so does the memory behind `control`.
  Node(const Control& control, int32_t first_pe, int32_t pe, Liveness* liveness, const WaitOptions& wait)
      : control_(control),
        first_pe_(first_pe),
        pe_(pe),
        liveness_(liveness),
        waiter_(control, pe, liveness, wait),
        steps_(control, pe, &waiter_) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  int32_t pe() const { return pe_; }
  int32_t pes() const { return control_.pes(); }
  int32_t first_pe() const { return first_pe_; }
  // Of a PE of this node, what the world calls it.
  int32_t world_pe(int32_t pe) const { return first_pe_ + pe; }
  // Of a PE of the world, its number here; -1 if it is in another node.
  int32_t local_pe(int32_t world_pe) const {
    const int32_t pe = world_pe - first_pe_;
    return pe >= 0 && pe < pes() ? pe : -1;
  }
  // Who that is, for people: "executor 3 on node-a".
  std::string label(int32_t pe) const { return control_.label(pe); }
  // The process that was it when it connected.
  pid_t process(int32_t pe) const { return liveness_->process(pe); }

  const Control& control() const { return control_; }
  Steps& steps() { return steps_; }
  const Steps& steps() const { return steps_; }
  Waiter& waiter() { return waiter_; }
  const Waiter& waiter() const { return waiter_; }

  // What `from` writes into memory of `to` when puts are verified: depends on the world's key, so that what lies in
  // memory of another world cannot pass.
  uint64_t token(int32_t from, int32_t to) const {
    const ControlHeader& header = control_.header();
    uint64_t value = header.key[0] ^ (static_cast<uint64_t>(from) << 32 | static_cast<uint32_t>(to));
    value *= 0x9e3779b97f4a7c15u;
    return (value ^ (value >> 31)) + header.key[1];
  }

 private:
  Control control_;
  int32_t first_pe_;
  int32_t pe_;
  Liveness* liveness_;
  Waiter waiter_;
  Steps steps_;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_NODE_H
