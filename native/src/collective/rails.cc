// Reductions between nodes by rails, in pipelined pieces.
//
// A PE without others in its node has the node's part already:
//
//   piece k of `in` --> each far PE of its rail, kWindow pieces ahead
//   the parts of all nodes of piece k --reduce--> out
//
// Where there are others, in steps of the node:
//
//   slot of a PE:  | its input of piece k | its part of the result of piece k - kDelay |
//
//   step k:   piece k of `in` --copy--> own slot
//             own part of piece k - kDelay, of all nodes, as it has come --reduce--> own slot      post, wait for all
//             own part of piece k of all slots --reduce--> scratch --> each far PE of the rail
//             parts of the result of piece k - kDelay in all slots --copy--> out
//
// Every node sends its whole part to every other: over the wire that is as much as in two halves for two nodes, and
// more for more of them (collective/scattered_rails.cc), but one trip. Any memory, in place or not.
#include "collective/rails.h"

#include <algorithm>

#include "collective/rails_call.h"

namespace sparkgap {
namespace {

constexpr uint64_t kLeastPartBytes = 8 << 10;

class ByRails final : public RailsCall {
 public:
  ByRails(HostNodes& nodes, const CollectiveCall& call, int32_t root)
      : RailsCall(nodes, call, piece_bytes(nodes, rails_of(nodes, call))),
        finish_(nodes, call),
        rails_(rails_of(nodes, call)),
        rail_(nodes.near().pe()),
        root_node_(root == kNoPe ? kNoPe : map_.node_of(root)),
        takes_(root_node_ == kNoPe || root_node_ == nodes.own()),
        delay_(std::min(HostNodes::kDelay, pieces_)),
        copies_(root == kNoPe || root == nodes.pe()) {}

 private:
  // A message that is cheap to carry is not worth one for each rail.
  static uint64_t rails_of(const HostNodes& nodes, const CollectiveCall& call) {
    return std::clamp<uint64_t>(given_bytes(call) / kLeastPartBytes, 1, static_cast<uint64_t>(nodes.map().smallest()));
  }
  // A slot of a node's PE holds a piece and a part of one.
  static uint64_t piece_bytes(HostNodes& nodes, uint64_t rails) {
    const uint64_t most = rails * nodes.channels().message_bytes();
    if (nodes.map().largest() == 1) return most;
    const uint64_t slot = ControlLayout::of(nodes.map().largest()).slot_bytes;
    return std::min(most, (slot * rails / (rails + 1) - kLineBytes) / (kLineBytes * rails) * (kLineBytes * rails));
  }

  Parts parts_of(uint64_t piece) const { return Parts(bytes_of(piece), rails_); }

  // The PE of this rail in another node.
  int32_t peer_in(int32_t node) const { return map_.first(node) + rail_; }
  bool sends_to(int32_t node) const { return node != nodes_.own() && (root_node_ == kNoPe || root_node_ == node); }

  void send(uint64_t piece, const void* part, uint64_t bytes) {
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      if (!sends_to(node)) continue;
      channels_.send(peer_in(node), part, bytes);
      sent_[piece % HostNodes::kWindow][node] = channels_.sent(peer_in(node));
    }
  }
  // Until what was sent of that piece has left where it was sent from.
  void wait_sent(uint64_t piece) {
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      if (sends_to(node)) channels_.wait_sent(peer_in(node), sent_[piece % HostNodes::kWindow][node]);
    }
  }

  // From what this node has and what comes of the others.
  void finish(void* out, const void* own, uint64_t bytes) {
    const void* parts[SPARKGAP_MAX_PES];
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      parts[node] = node == nodes_.own() ? own : channels_.receive(peer_in(node), bytes);
    }
    finish_(out, parts, bytes);
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      if (node != nodes_.own()) channels_.release(peer_in(node));
    }
  }

  void run_alone() override {
    const bool in_place = call_.in == call_.out;
    uint64_t next = 0;
    for (uint64_t piece = 0; piece < pieces_; ++piece) {
      for (; next < pieces_ && next < piece + HostNodes::kWindow; ++next) {
        send(next, advance(call_.in, begin_of(next)), bytes_of(next));
      }
      if (!takes_) continue;
      if (in_place) wait_sent(piece);
      finish(advance(call_.out, begin_of(piece)), advance(call_.in, begin_of(piece)), bytes_of(piece));
    }
  }

  void run_together() override {
    HostNode& near = nodes_.near();
    Steps& steps = near.steps();
    const CopyFunction copy_out = copy_to_out(call_);
    const bool is_rail = static_cast<uint64_t>(rail_) < rails_;
    const uint64_t last = pieces_ + (takes_ ? delay_ : 0);
    const uint64_t element = element_bytes(call_.type);
    for (uint64_t step = 0; step < last; ++step) {
      steps.begin();
      uint8_t* slot = steps.slot(near.pe());
      if (step < pieces_) std::memcpy(slot, advance(call_.in, begin_of(step)), bytes_of(step));
      const bool has_result = takes_ && step >= delay_;
      const uint64_t done = step - delay_;
      if (has_result && is_rail && parts_of(done).size(rail_) > 0) {
        const Parts parts = parts_of(done);
        finish(slot + piece_bytes_, scratch_of(done), parts.size(rail_));
        if (copies_) {
          copy_out(advance(call_.out, begin_of(done) + parts.begin(rail_)), slot + piece_bytes_, parts.size(rail_));
        }
      }
      steps.post();
      steps.wait_for_all();
      if (step < pieces_ && is_rail && parts_of(step).size(rail_) > 0) {
        const Parts parts = parts_of(step);
        const uint64_t begin = parts.begin(rail_);
        uint8_t* sum = scratch_of(step);
        if (step > delay_) wait_sent(step - delay_ - 1);
        finish_.sum()(sum, Inputs(near, steps, advance(call_.in, begin_of(step) + begin), begin), near.pes(),
                      parts.size(rail_) / element);
        send(step, sum, parts.size(rail_));
      }
      if (!has_result || !copies_) continue;
      const Parts parts = parts_of(done);
      for (int32_t i = 1; i < near.pes(); ++i) {
        const int32_t rail = near.neighbour(i);
        if (static_cast<uint64_t>(rail) >= rails_) continue;
        copy_out(advance(call_.out, begin_of(done) + parts.begin(rail)), steps.slot(rail) + piece_bytes_,
                 parts.size(rail));
      }
    }
  }

  uint8_t* scratch_of(uint64_t piece) {
    return nodes_.scratch(piece % (HostNodes::kDelay + 1), channels_.message_bytes());
  }

  const Finish finish_;
  const uint64_t rails_;
  const int32_t rail_;
  const int32_t root_node_;
  const bool takes_;      // this node takes part in the result
  const uint64_t delay_;  // a message of one piece has nothing to do meanwhile
  const bool copies_;     // this PE gets it
  uint64_t sent_[HostNodes::kWindow][SPARKGAP_MAX_PES] = {};
  static_assert(HostNodes::kDelay < HostNodes::kWindow, "a piece is remembered until its scratch is used again");
};

}  // namespace

void reduce_by_rails(HostNodes& nodes, const CollectiveCall& call, int32_t root) { ByRails(nodes, call, root).run(); }

}  // namespace sparkgap
