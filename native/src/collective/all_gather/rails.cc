// allGather between nodes: a block goes over the wire once to each other node, whose PEs hand it on by their slots.
//
// A PE without others in its node:
//
//   piece k of `in` --> one PE of each other node, kWindow pieces ahead
//   piece k of every far block, as it has come --copy--> out
//
// Where there are others, in steps of the node:
//
//   slot of a PE:  | piece k of its block | piece k - kDelay of each far block that came to it (NodeMap::partner) |
//
//   step k:   piece k of `in` --> own slot, and --> one PE of each other node
//             piece k - kDelay of far blocks, as they have come --copy--> own slot and out      post, wait for all
//             what is in the slots of the others --copy--> out
//
// Any memory, in place or not: a PE's own block of `out` is not written if `in` is there.
#include "collective/nodes_algorithms.h"
#include "collective/rails_call.h"

namespace sparkgap {
namespace {

class AllGather final : public RailsCall {
 public:
  AllGather(HostNodes& nodes, const CollectiveCall& call)
      : RailsCall(nodes, call, piece_bytes(nodes)), copy_out_(copy_to_out(call)) {}

 private:
  static uint64_t piece_bytes(const HostNodes& nodes) {
    return std::max(kLineBytes, nodes.chunk_bytes([&](int32_t pes) { return nodes.most_partners(pes) + 1; }));
  }
  const uint8_t* in(uint64_t piece) const { return advance(call_.in, begin_of(piece)); }
  uint8_t* out(int32_t pe, uint64_t piece) const {
    return advance(call_.out, static_cast<uint64_t>(pe) * bytes_ + begin_of(piece));
  }

  void send(uint64_t piece) {
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      if (node != nodes_.own()) channels_.send(map_.partner(node, nodes_.pe()), in(piece), bytes_of(piece));
    }
  }
  void copy_own(uint64_t piece) {
    if (in(piece) != out(nodes_.pe(), piece)) copy_out_(out(nodes_.pe(), piece), in(piece), bytes_of(piece));
  }

  void run_alone() override {
    uint64_t next = 0;
    for (uint64_t piece = 0; piece < pieces_; ++piece) {
      for (; next < pieces_ && next < piece + HostNodes::kWindow; ++next) send(next);
      copy_own(piece);
      for (const int32_t peer : nodes_.far()) {
        copy_out_(out(peer, piece), channels_.receive(peer, bytes_of(piece)), bytes_of(piece));
        channels_.release(peer);
      }
    }
  }

  // Calls body(far PE, place in the slot) for the far blocks that come to a PE of this node.
  template <class Body>
  void for_each_source(int32_t pe, const Body& body) {
    uint64_t place = 1;
    for (const int32_t peer : nodes_.far()) {
      if (map_.partner(nodes_.own(), peer) == pe) body(peer, place++);
    }
  }

  void run_together() override {
    HostNode& near = nodes_.near();
    Steps& steps = near.steps();
    for (uint64_t step = 0; step < pieces_ + HostNodes::kDelay; ++step) {
      const bool has_own = step < pieces_;
      const bool has_far = step >= HostNodes::kDelay;
      const uint64_t come = step - HostNodes::kDelay;
      if (has_own) send(step);
      steps.begin();
      uint8_t* slot = steps.slot(near.pe());
      if (has_own) std::memcpy(slot, in(step), bytes_of(step));
      if (has_far) {
        for_each_source(nodes_.pe(), [&](int32_t peer, uint64_t place) {
          const uint8_t* data = channels_.receive(peer, bytes_of(come));
          std::memcpy(slot + place * piece_bytes_, data, bytes_of(come));
          copy_out_(out(peer, come), data, bytes_of(come));
          channels_.release(peer);
        });
      }
      steps.post();
      if (has_own) copy_own(step);
      steps.wait_for_all();
      for (int32_t i = 1; i < near.pes(); ++i) {
        const int32_t mate = near.neighbour(i);
        const int32_t pe = near.node().world_pe(mate);
        const uint8_t* theirs = steps.slot(mate);
        if (has_own) copy_out_(out(pe, step), theirs, bytes_of(step));
        if (!has_far) continue;
        for_each_source(pe, [&](int32_t peer, uint64_t place) {
          copy_out_(out(peer, come), theirs + place * piece_bytes_, bytes_of(come));
        });
      }
    }
  }

  const CopyFunction copy_out_;
};

}  // namespace

void all_gather_rails(HostNodes& nodes, const CollectiveCall& call) { AllGather(nodes, call).run(); }

}  // namespace sparkgap
