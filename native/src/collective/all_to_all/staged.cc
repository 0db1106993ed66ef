#include "collective/all_to_all/staged.h"

#include "collective/chunks.h"

namespace sparkgap {

void all_to_all_staged(World& world, const void* in, void* out, uint64_t bytes_per_pe) {
  Steps& steps = world.steps();
  const uint64_t own = static_cast<uint64_t>(world.pe());
  const uint64_t most = elements_of_block(steps, static_cast<uint64_t>(world.pes()), 1);
  for_each_chunk(bytes_per_pe, most, [&](uint64_t first, uint64_t bytes) {
    steps.begin();
    uint8_t* slot = steps.slot(world.pe());
    for (uint64_t peer = 0; peer < static_cast<uint64_t>(world.pes()); ++peer) {
      if (peer != own) std::memcpy(slot + peer * most, advance(in, peer * bytes_per_pe + first), bytes);
    }
    steps.post();
    const uint64_t own_piece = own * bytes_per_pe + first;
    if (in != out) std::memcpy(advance(out, own_piece), advance(in, own_piece), bytes);
    for (int32_t i = 1; i < world.pes(); ++i) {
      const int32_t peer = world.neighbour(i);
      steps.wait_for(peer);
      std::memcpy(advance(out, static_cast<uint64_t>(peer) * bytes_per_pe + first), steps.slot(peer) + own * most,
                  bytes);
    }
  });
}

}  // namespace sparkgap
