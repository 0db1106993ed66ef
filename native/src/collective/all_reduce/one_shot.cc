#include "collective/all_reduce/one_shot.h"

#include "collective/chunks.h"

namespace sparkgap {

void all_reduce_one_shot(World& world, const void* in, void* out, uint64_t count, uint64_t element_bytes,
                         ReduceFunction reduce) {
  Steps& steps = world.steps();
  for_each_chunk(count, steps.slot_bytes() / element_bytes, [&](uint64_t first, uint64_t number) {
    const uint8_t* own = advance(in, first * element_bytes);
    steps.begin();
    std::memcpy(steps.slot(world.pe()), own, number * element_bytes);
    steps.post();
    steps.wait_for_all();
    reduce(advance(out, first * element_bytes), Inputs(world, steps, own, 0), world.pes(), number);
  });
}

}  // namespace sparkgap
