#include "collective/all_gather/staged.h"

#include "collective/chunks.h"

namespace sparkgap {

void all_gather_staged(World& world, const void* in, void* out, uint64_t bytes_per_pe) {
  Steps& steps = world.steps();
  uint8_t* own_block = advance(out, static_cast<uint64_t>(world.pe()) * bytes_per_pe);
  for_each_chunk(bytes_per_pe, steps.slot_bytes(), [&](uint64_t first, uint64_t bytes) {
    steps.begin();
    std::memcpy(steps.slot(world.pe()), advance(in, first), bytes);
    steps.post();
    if (own_block != in) std::memcpy(own_block + first, advance(in, first), bytes);
    for (int32_t i = 1; i < world.pes(); ++i) {
      const int32_t peer = world.neighbour(i);
      steps.wait_for(peer);
      std::memcpy(advance(out, static_cast<uint64_t>(peer) * bytes_per_pe + first), steps.slot(peer), bytes);
    }
  });
}

}  // namespace sparkgap
