// reduceScatter between nodes: each node reduces every block, and sends those of far PEs to them.
//
// A PE without others in its node has the node's part of every block already:
//
//   piece k of each far PE's block of `in` --> that PE, kWindow pieces ahead
//   own block's piece k, of all nodes --reduce--> out
//
// Where there are others, in steps of the node:
//
//   slot of a PE:  | piece k of its block for PE 0 | ... for PE pes - 1 |
//
//   step k:   piece k of all blocks of `in` --copy--> own slot      post, wait for all
//             of each far PE that is this one's to deal with (NodeMap::partner): its block in all slots --reduce-->
//             scratch --> that PE;   own block in all slots --reduce--> scratch
//             own block's piece k - kDelay, of all nodes, as it has come --reduce--> out
//
// Any memory, in place or not: of `in` only the own block is overwritten, after it was read.
#include "collective/nodes_algorithms.h"
#include "collective/rails_call.h"

namespace sparkgap {
namespace {

class ReduceScatter final : public RailsCall {
 public:
  ReduceScatter(HostNodes& nodes, const CollectiveCall& call)
      : RailsCall(nodes, call, piece_bytes(nodes)), finish_(nodes, call), partners_(most_partners(nodes)) {}

 private:
  // Of the PE that has most, over all nodes with several PEs.
  static uint64_t most_partners(HostNodes& nodes) {
    const NodeMap& map = nodes.map();
    uint64_t most = 0;
    for (int32_t node = 0; node < map.nodes(); ++node) {
      if (map.size(node) > 1) most = std::max(most, nodes.most_partners(map.size(node)));
    }
    return most;
  }
  // Pieces of all partners' blocks, and of the own, lie in scratch for kDelay steps.
  static uint64_t piece_bytes(HostNodes& nodes) {
    const uint64_t pes = static_cast<uint64_t>(nodes.pes());
    const uint64_t in_slot = nodes.chunk_bytes([pes](int32_t) { return pes; });
    const uint64_t rows = HostNodes::kScratchSlots / (HostNodes::kDelay + 1);
    const uint64_t blocks = most_partners(nodes) + 1;
    const uint64_t in_scratch = rows * nodes.channels().message_bytes() / blocks / kLineBytes * kLineBytes;
    return std::max(kLineBytes, std::min(in_slot, in_scratch));
  }

  const uint8_t* in(int32_t pe, uint64_t piece) const {
    return advance(call_.in, static_cast<uint64_t>(pe) * bytes_ + begin_of(piece));
  }
  uint8_t* scratch(uint64_t piece, uint64_t number) {
    return nodes_.scratch(piece % (HostNodes::kDelay + 1) * (partners_ + 1) + number, piece_bytes_);
  }

  void finish(const void* own, uint64_t piece) {
    const void* parts[SPARKGAP_MAX_PES];
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      parts[node] = node == nodes_.own() ? own : channels_.receive(map_.partner(node, nodes_.pe()), bytes_of(piece));
    }
    finish_(advance(call_.out, begin_of(piece)), parts, bytes_of(piece));
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      if (node != nodes_.own()) channels_.release(map_.partner(node, nodes_.pe()));
    }
  }

  void run_alone() override {
    uint64_t next = 0;
    for (uint64_t piece = 0; piece < pieces_; ++piece) {
      for (; next < pieces_ && next < piece + HostNodes::kWindow; ++next) {
        for (const int32_t peer : nodes_.far()) channels_.send(peer, in(peer, next), bytes_of(next));
      }
      finish(in(nodes_.pe(), piece), piece);
    }
  }

  void run_together() override {
    HostNode& near = nodes_.near();
    Steps& steps = near.steps();
    const uint64_t element = element_bytes(call_.type);
    for (uint64_t step = 0; step < pieces_ + HostNodes::kDelay; ++step) {
      if (step < pieces_) {
        const uint64_t bytes = bytes_of(step);
        const auto sum_block = [&](void* to, int32_t pe) {
          const uint64_t offset = static_cast<uint64_t>(pe) * piece_bytes_;
          finish_.sum()(to, Inputs(near, steps, in(pe, step), offset), near.pes(), bytes / element);
        };
        steps.begin();
        uint8_t* slot = steps.slot(near.pe());
        for (int32_t pe = 0; pe < nodes_.pes(); ++pe) {
          std::memcpy(slot + static_cast<uint64_t>(pe) * piece_bytes_, in(pe, step), bytes);
        }
        steps.post();
        steps.wait_for_all();
        uint64_t number = 0;
        sum_block(scratch(step, number++), nodes_.pe());
        for (const int32_t peer : nodes_.far()) {
          if (map_.partner(nodes_.own(), peer) != nodes_.pe()) continue;
          // What was sent from there kDelay + 1 pieces ago.
          channels_.wait_sent(peer, channels_.sent(peer));
          uint8_t* sum = scratch(step, number++);
          sum_block(sum, peer);
          channels_.send(peer, sum, bytes);
        }
      }
      if (step >= HostNodes::kDelay) finish(scratch(step - HostNodes::kDelay, 0), step - HostNodes::kDelay);
    }
  }

  const Finish finish_;
  const uint64_t partners_;
};

}  // namespace

void reduce_scatter_rails(HostNodes& nodes, const CollectiveCall& call) { ReduceScatter(nodes, call).run(); }

}  // namespace sparkgap
