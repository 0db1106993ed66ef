// Reductions between three nodes and more by rails, where the nodes of a rail share the work: a reduce-scatter and an
// all-gather between them, in pipelined pieces.
//
//   part of a rail in a piece:  | share of node 0 | ... | share of node nodes - 1 |
//
// A PE without others in its node has the node's part already:
//
//   piece k of `in`, each other node's share --> its PE of this rail
//   own share of piece k - kDelay, of all nodes, as it has come --reduce--> out --> each far PE of the rail
//   others' shares of piece k - 2 * kDelay, as they have come --copy--> out
//
// Where there are others, in steps of the node:
//
//   slot of a PE:  | its input of piece k | its part of the result of piece k - kResultDelay |
//
//   step k:   piece k of `in` --copy--> own slot
//             others' shares of piece k - kResultDelay, as they have come, and the own --copy--> own slot
//             post, wait for all
//             own part of piece k of all slots --reduce--> scratch, each other node's share --> its PE
//             own share of piece k - kDelay, of all nodes, as it has come --reduce--> scratch --> far PEs of the rail
//             parts of the result of piece k - kResultDelay in all slots --copy--> out
//
// Every node sends shares and results in the same order, whichever of the two it does. With kDelay pieces between the
// two trips a sender is never more than Channels::kMessagesAhead ahead of whom it waits for.
//
// Any memory, in place or not.
#include <algorithm>

#include "collective/rails.h"
#include "collective/rails_call.h"

namespace sparkgap {
namespace {

constexpr uint64_t kDelay = 1;
constexpr uint64_t kResultDelay = 2 * kDelay + 1;
// Pieces whose sums are still needed.
constexpr uint64_t kRows = kResultDelay + 1;

class ByScatteredRails final : public RailsCall {
 public:
  ByScatteredRails(HostNodes& nodes, const CollectiveCall& call, int32_t root)
      : RailsCall(nodes, call, rails_of(nodes) * part_bytes(nodes)),
        finish_(nodes, call),
        copy_out_(copy_to_out(call)),
        rails_(rails_of(nodes)),
        rail_(nodes.near().pe()),
        root_node_(root == kNoPe ? kNoPe : map_.node_of(root)),
        takes_(root_node_ == kNoPe || root_node_ == nodes.own()),
        copies_(root == kNoPe || root == nodes.pe()) {}

 private:
  static uint64_t rails_of(const HostNodes& nodes) { return static_cast<uint64_t>(nodes.map().smallest()); }
  // A share fits a message, the parts of kRows pieces scratch, a piece and a part of one a slot of a node's PE.
  static uint64_t part_bytes(HostNodes& nodes) {
    const uint64_t in_messages = static_cast<uint64_t>(nodes.map().nodes()) * nodes.channels().message_bytes();
    const uint64_t in_scratch = HostNodes::kScratchSlots / kRows * nodes.channels().message_bytes();
    uint64_t bytes = std::min(in_messages, in_scratch);
    if (nodes.map().largest() > 1) {
      const uint64_t slot = ControlLayout::of(nodes.map().largest()).slot_bytes;
      bytes = std::min(bytes, slot / (rails_of(nodes) + 1));
    }
    return bytes / kLineBytes * kLineBytes;
  }

  Parts parts_of(uint64_t piece) const { return Parts(bytes_of(piece), rails_); }
  uint64_t part_begin(uint64_t piece) const { return parts_of(piece).begin(rail_); }
  Parts shares_of(uint64_t piece) const {
    return Parts(parts_of(piece).size(rail_), static_cast<uint64_t>(map_.nodes()));
  }
  bool has_part(uint64_t piece) const {
    return static_cast<uint64_t>(rail_) < rails_ && parts_of(piece).size(rail_) > 0;
  }

  const uint8_t* in(uint64_t piece) const { return advance(call_.in, begin_of(piece)); }
  uint8_t* out(uint64_t piece) const { return advance(call_.out, begin_of(piece)); }
  uint8_t* row(uint64_t piece) { return nodes_.scratch(piece % kRows, piece_bytes_ / rails_); }
  int32_t peer_in(int32_t node) const { return map_.first(node) + rail_; }
  bool gets_results(int32_t node) const { return root_node_ == kNoPe || root_node_ == node; }

  void send(uint64_t piece, int32_t node, const void* data, uint64_t bytes) {
    channels_.send(peer_in(node), data, bytes);
    sent_[piece % kRows][node] = channels_.sent(peer_in(node));
  }
  // Until what was sent of that piece has left where it was sent from.
  void wait_sent(uint64_t piece) {
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      if (node != nodes_.own()) channels_.wait_sent(peer_in(node), sent_[piece % kRows][node]);
    }
  }

  // `part`: what this node has.
  void scatter(uint64_t piece, const uint8_t* part) {
    const Parts shares = shares_of(piece);
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      if (node == nodes_.own() || shares.size(node) == 0) continue;
      send(piece, node, part + shares.begin(node), shares.size(node));
    }
  }
  // From what this node has and what comes of the others. `own`, `result`: of the share.
  void reduce_share(uint64_t piece, const uint8_t* own, uint8_t* result) {
    const uint64_t bytes = shares_of(piece).size(nodes_.own());
    if (bytes == 0) return;
    const void* parts[SPARKGAP_MAX_PES];
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      parts[node] = node == nodes_.own() ? own : channels_.receive(peer_in(node), bytes);
    }
    finish_(result, parts, bytes);
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      if (node != nodes_.own()) channels_.release(peer_in(node));
    }
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      if (node != nodes_.own() && gets_results(node)) send(piece, node, result, bytes);
    }
  }
  // Other nodes' shares of the result.
  template <class Copy>
  void gather(uint64_t piece, uint8_t* part, const Copy& copy) {
    const Parts shares = shares_of(piece);
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      if (node == nodes_.own() || shares.size(node) == 0) continue;
      copy(part + shares.begin(node), channels_.receive(peer_in(node), shares.size(node)), shares.size(node));
      channels_.release(peer_in(node));
    }
  }

  void run_alone() override {
    const bool in_place = call_.in == call_.out;
    const uint64_t last = pieces_ + (takes_ ? 2 * kDelay : kDelay);
    for (uint64_t step = 0; step < last; ++step) {
      if (step < pieces_) scatter(step, in(step));
      if (step >= kDelay && step - kDelay < pieces_) {
        const uint64_t piece = step - kDelay;
        const uint64_t begin = shares_of(piece).begin(nodes_.own());
        if (!copies_ && piece >= kRows) wait_sent(piece - kRows);
        reduce_share(piece, in(piece) + begin, (copies_ ? out(piece) : row(piece)) + begin);
      }
      if (takes_ && step >= 2 * kDelay) {
        const uint64_t piece = step - 2 * kDelay;
        if (in_place) wait_sent(piece);
        gather(piece, out(piece), copy_out_);
      }
    }
  }

  void run_together() override {
    HostNode& near = nodes_.near();
    Steps& steps = near.steps();
    const uint64_t last = pieces_ + (takes_ ? kResultDelay : kDelay);
    for (uint64_t step = 0; step < last; ++step) {
      const bool has_result = takes_ && step >= kResultDelay;
      const uint64_t done = step - kResultDelay;
      steps.begin();
      uint8_t* slot = steps.slot(near.pe());
      if (step < pieces_) std::memcpy(slot, in(step), bytes_of(step));
      if (has_result && has_part(done)) {
        const Parts shares = shares_of(done);
        const uint64_t own = shares.begin(nodes_.own());
        uint8_t* result = slot + piece_bytes_;
        std::memcpy(result + own, row(done) + own, shares.size(nodes_.own()));
        gather(done, result, [](void* to, const void* from, uint64_t bytes) { std::memcpy(to, from, bytes); });
        if (copies_) copy_out_(out(done) + part_begin(done), result, parts_of(done).size(rail_));
      }
      steps.post();
      steps.wait_for_all();
      if (step < pieces_ && has_part(step)) sum_and_scatter(step);
      if (step >= kDelay && step - kDelay < pieces_ && has_part(step - kDelay)) {
        const uint64_t piece = step - kDelay;
        uint8_t* own = row(piece) + shares_of(piece).begin(nodes_.own());
        reduce_share(piece, own, own);
      }
      if (has_result && copies_) copy_from_others(done);
    }
  }

  void sum_and_scatter(uint64_t piece) {
    HostNode& near = nodes_.near();
    const uint64_t begin = part_begin(piece);
    if (piece >= kRows) wait_sent(piece - kRows);
    finish_.sum()(row(piece), Inputs(near, near.steps(), in(piece) + begin, begin), near.pes(),
                  parts_of(piece).size(rail_) / element_bytes(call_.type));
    scatter(piece, row(piece));
  }

  void copy_from_others(uint64_t piece) {
    HostNode& near = nodes_.near();
    const Parts parts = parts_of(piece);
    for (int32_t i = 1; i < near.pes(); ++i) {
      const int32_t rail = near.neighbour(i);
      if (static_cast<uint64_t>(rail) >= rails_) continue;
      copy_out_(out(piece) + parts.begin(rail), near.steps().slot(rail) + piece_bytes_, parts.size(rail));
    }
  }

  const Finish finish_;
  const CopyFunction copy_out_;
  const uint64_t rails_;
  const int32_t rail_;
  const int32_t root_node_;
  const bool takes_;   // this node takes part in the result
  const bool copies_;  // this PE gets it
  uint64_t sent_[kRows][SPARKGAP_MAX_PES] = {};
};

}  // namespace

void reduce_by_scattered_rails(HostNodes& nodes, const CollectiveCall& call, int32_t root) {
  ByScatteredRails(nodes, call, root).run();
}

}  // namespace sparkgap
