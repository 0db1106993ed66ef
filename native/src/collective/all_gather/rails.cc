// allGather between nodes: a block goes over the wire once to each other node, whose PEs hand it on by their slots.
//
// A PE without others in its node:
//
//   piece k of `in` --> a slot of one PE of each other node, kWindow pieces ahead
//   piece k of every far block, as it has come --copy--> out
//
// Where there are others, in steps of the node:
//
//   slot of a PE:  | piece k of its block | piece k - kDelay of each far block that came to it (NodeMap::partner) |
//
//   step k:   piece k of `in` --> own slot, and --> a slot of one PE of each other node
//             piece k - kDelay of far blocks, as they have come --copy--> own slot and out      post, wait for all
//             what is in the slots of the others --copy--> out
//
// Any memory, in place or not: a PE's own block of `out` is not written if `in` is there.
#include <algorithm>

#include "collective/chunks.h"
#include "collective/nodes_algorithms.h"

namespace sparkgap {
namespace {

class AllGather {
 public:
  AllGather(HostNodes& nodes, const CollectiveCall& call)
      : nodes_(nodes),
        channels_(nodes.channels()),
        map_(nodes.map()),
        call_(call),
        copy_out_(copy_to_out(call)),
        block_bytes_(given_bytes(call)),
        chunk_(std::max(kLineBytes, nodes.chunk_bytes([&](int32_t pes) { return nodes.most_partners(pes) + 1; }))),
        chunks_((block_bytes_ + chunk_ - 1) / chunk_) {}

  void run() {
    if (nodes_.is_alone()) {
      run_alone();
    } else {
      run_together();
    }
  }

 private:
  uint64_t begin_of(uint64_t chunk) const { return chunk * chunk_; }
  uint64_t bytes_of(uint64_t chunk) const { return std::min(chunk_, block_bytes_ - begin_of(chunk)); }
  const uint8_t* in(uint64_t chunk) const { return advance(call_.in, begin_of(chunk)); }
  uint8_t* out(int32_t pe, uint64_t chunk) const {
    return advance(call_.out, static_cast<uint64_t>(pe) * block_bytes_ + begin_of(chunk));
  }

  void send(uint64_t chunk) {
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      if (node != nodes_.own()) channels_.send(map_.partner(node, nodes_.pe()), in(chunk), bytes_of(chunk));
    }
  }
  void copy_own(uint64_t chunk) {
    if (in(chunk) != out(nodes_.pe(), chunk)) copy_out_(out(nodes_.pe(), chunk), in(chunk), bytes_of(chunk));
  }

  void run_alone() {
    uint64_t next = 0;
    for (uint64_t chunk = 0; chunk < chunks_; ++chunk) {
      for (; next < chunks_ && next < chunk + HostNodes::kWindow; ++next) send(next);
      copy_own(chunk);
      for (const int32_t peer : nodes_.far()) {
        copy_out_(out(peer, chunk), channels_.receive(peer), bytes_of(chunk));
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

  void run_together() {
    HostNode& near = nodes_.near();
    Steps& steps = near.steps();
    for (uint64_t step = 0; step < chunks_ + HostNodes::kDelay; ++step) {
      const bool has_own = step < chunks_;
      const bool has_far = step >= HostNodes::kDelay;
      const uint64_t come = step - HostNodes::kDelay;
      if (has_own) send(step);
      steps.begin();
      uint8_t* slot = steps.slot(near.pe());
      if (has_own) std::memcpy(slot, in(step), bytes_of(step));
      if (has_far) {
        for_each_source(nodes_.pe(), [&](int32_t peer, uint64_t place) {
          const uint8_t* data = channels_.receive(peer);
          std::memcpy(slot + place * chunk_, data, bytes_of(come));
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
          copy_out_(out(peer, come), theirs + place * chunk_, bytes_of(come));
        });
      }
    }
  }

  HostNodes& nodes_;
  Channels& channels_;
  const NodeMap& map_;
  const CollectiveCall& call_;
  const CopyFunction copy_out_;
  const uint64_t block_bytes_;
  const uint64_t chunk_;
  const uint64_t chunks_;
};

}  // namespace

void all_gather_rails(HostNodes& nodes, const CollectiveCall& call) { AllGather(nodes, call).run(); }

}  // namespace sparkgap
