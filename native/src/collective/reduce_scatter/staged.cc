#include "collective/reduce_scatter/staged.h"

#include "collective/chunks.h"

namespace sparkgap {

void reduce_scatter_staged(World& world, const void* in, void* out, uint64_t count_per_pe, uint64_t element_bytes,
                           ReduceFunction reduce) {
  Steps& steps = world.steps();
  const uint64_t pes = static_cast<uint64_t>(world.pes());
  const uint64_t own = static_cast<uint64_t>(world.pe());
  const uint64_t most = elements_of_block(steps, pes, element_bytes);
  for_each_chunk(count_per_pe, most, [&](uint64_t first, uint64_t number) {
    steps.begin();
    uint8_t* slot = steps.slot(world.pe());
    for (uint64_t block = 0; block < pes; ++block) {
      if (block == own) continue;
      std::memcpy(slot + block * most * element_bytes, advance(in, (block * count_per_pe + first) * element_bytes),
                  number * element_bytes);
    }
    steps.post();
    steps.wait_for_all();
    const Inputs inputs(world, steps, advance(in, (own * count_per_pe + first) * element_bytes),
                        own * most * element_bytes);
    reduce(advance(out, first * element_bytes), inputs, world.pes(), number);
  });
}

}  // namespace sparkgap
