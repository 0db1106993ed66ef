// reduceScatter between nodes: each node reduces every block, and sends those of far PEs to them.
//
// A PE without others in its node has the node's part of every block already:
//
//   piece k of each far PE's block of `in` --> a slot of that PE, kWindow pieces ahead
//   own block's piece k, of all nodes --reduce--> out
//
// Where there are others, in steps of the node:
//
//   slot of a PE:  | piece k of its block for PE 0 | ... for PE pes - 1 |
//
//   step k:   piece k of all blocks of `in` --copy--> own slot      post, wait for all
//             of each far PE that is this one's to deal with (NodeMap::partner): its block in all slots --reduce-->
//             scratch --> a slot of that PE;   own block in all slots --reduce--> scratch
//             own block's piece k - kDelay, of all nodes, as it has come --reduce--> out
//
// Any memory, in place or not: of `in` only the own block is overwritten, after it was read.
#include <algorithm>

#include "collective/chunks.h"
#include "collective/nodes_algorithms.h"

namespace sparkgap {
namespace {

class ReduceScatter {
 public:
  ReduceScatter(HostNodes& nodes, const CollectiveCall& call)
      : nodes_(nodes),
        channels_(nodes.channels()),
        map_(nodes.map()),
        call_(call),
        finish_(nodes, call),
        block_bytes_(given_bytes(call)),
        partners_(partners()),
        chunk_(chunk_bytes()),
        chunks_((block_bytes_ + chunk_ - 1) / chunk_) {}

  void run() {
    if (nodes_.is_alone()) {
      run_alone();
    } else {
      run_together();
    }
  }

 private:
  // Of the PE that has most, over all nodes with several PEs.
  uint64_t partners() const {
    uint64_t most = 0;
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      if (map_.size(node) > 1) most = std::max(most, nodes_.most_partners(map_.size(node)));
    }
    return most;
  }
  // Pieces of all partners' blocks, and of the own, lie in scratch for kDelay steps.
  uint64_t chunk_bytes() const {
    const uint64_t pes = static_cast<uint64_t>(nodes_.pes());
    const uint64_t in_slot = nodes_.chunk_bytes([pes](int32_t) { return pes; });
    const uint64_t rows = HostNodes::kScratchSlots / (HostNodes::kDelay + 1);
    const uint64_t in_scratch = rows * channels_.slot_bytes() / (partners_ + 1) / kLineBytes * kLineBytes;
    return std::max(kLineBytes, std::min(in_slot, in_scratch));
  }

  uint64_t begin_of(uint64_t chunk) const { return chunk * chunk_; }
  uint64_t bytes_of(uint64_t chunk) const { return std::min(chunk_, block_bytes_ - begin_of(chunk)); }
  const uint8_t* in(int32_t pe, uint64_t chunk) const {
    return advance(call_.in, static_cast<uint64_t>(pe) * block_bytes_ + begin_of(chunk));
  }
  uint8_t* scratch(uint64_t chunk, uint64_t number) {
    return nodes_.scratch(chunk % (HostNodes::kDelay + 1) * (partners_ + 1) + number, chunk_);
  }

  void finish(const void* own, uint64_t chunk) {
    const void* parts[SPARKGAP_MAX_PES];
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      parts[node] = node == nodes_.own() ? own : channels_.receive(map_.partner(node, nodes_.pe()));
    }
    finish_(advance(call_.out, begin_of(chunk)), parts, bytes_of(chunk));
    for (int32_t node = 0; node < map_.nodes(); ++node) {
      if (node != nodes_.own()) channels_.release(map_.partner(node, nodes_.pe()));
    }
  }

  void run_alone() {
    uint64_t next = 0;
    for (uint64_t chunk = 0; chunk < chunks_; ++chunk) {
      for (; next < chunks_ && next < chunk + HostNodes::kWindow; ++next) {
        for (const int32_t peer : nodes_.far()) channels_.send(peer, in(peer, next), bytes_of(next));
      }
      finish(in(nodes_.pe(), chunk), chunk);
    }
  }

  void run_together() {
    HostNode& near = nodes_.near();
    Steps& steps = near.steps();
    const uint64_t element = element_bytes(call_.type);
    for (uint64_t step = 0; step < chunks_ + HostNodes::kDelay; ++step) {
      if (step < chunks_) {
        const uint64_t bytes = bytes_of(step);
        const auto sum_block = [&](void* to, int32_t pe) {
          const uint64_t offset = static_cast<uint64_t>(pe) * chunk_;
          finish_.sum()(to, Inputs(near, steps, in(pe, step), offset), near.pes(), bytes / element);
        };
        steps.begin();
        uint8_t* slot = steps.slot(near.pe());
        for (int32_t pe = 0; pe < nodes_.pes(); ++pe) {
          std::memcpy(slot + static_cast<uint64_t>(pe) * chunk_, in(pe, step), bytes);
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

  HostNodes& nodes_;
  Channels& channels_;
  const NodeMap& map_;
  const CollectiveCall& call_;
  const Finish finish_;
  const uint64_t block_bytes_;
  const uint64_t partners_;
  const uint64_t chunk_;
  const uint64_t chunks_;
};

}  // namespace

void reduce_scatter_rails(HostNodes& nodes, const CollectiveCall& call) { ReduceScatter(nodes, call).run(); }

}  // namespace sparkgap
