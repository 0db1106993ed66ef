// What a wait keeps going while it lasts, in a world of several nodes: the wire to the PEs of other nodes. A wait on
// one node needs none.
#ifndef SPARKGAP_PROTOCOL_PUMP_H
#define SPARKGAP_PROTOCOL_PUMP_H

#include <cstdint>

#include "base/error.h"
#include "protocol/layout.h"

namespace sparkgap {

class Pump {
 public:
  virtual ~Pump() = default;
  // Moves what can be moved; true if anything was. At each look of a wait, so it takes next to nothing.
  virtual bool pump() = 0;
  // A PE of another node without which the wait cannot end well: one that is lost, or the awaited one if it has left;
  // kNoPe if there is none.
  virtual int32_t find_gone() = 0;
  // Ends the world because of that, and throws.
  [[noreturn]] virtual void give_up_gone(int32_t pe) = 0;
  // The PE of another node that the wait is for, as the world numbers it; kNoPe if it is for one of this node, or for
  // any.
  virtual int32_t awaited() const = 0;
  // Whether any PE of another node is still there.
  virtual bool has_peers() const = 0;
  // Adds "PE 3 (executor 2, on node-b)".
  virtual void describe_peer(Text& text, int32_t pe) const = 0;
  // What that PE's line of the call board says; nullptr if it does not answer soon. Stays until asked again.
  virtual const CallLine* calls_of(int32_t pe) = 0;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_PUMP_H
