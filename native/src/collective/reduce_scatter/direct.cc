#include "collective/reduce_scatter/direct.h"

#include "collective/direct.h"

namespace sparkgap {

bool reduce_scatter_direct(World& world, const void* in, void* out, uint64_t count_per_pe, uint64_t element_bytes,
                           ReduceFunction reduce) {
  const uint64_t bytes_per_pe = count_per_pe * element_bytes;
  const DirectArrays ins(world, in, static_cast<uint64_t>(world.pes()) * bytes_per_pe, DirectArrays::Use::kAddress);
  if (!ins.usable()) return false;
  const void* blocks[SPARKGAP_MAX_PES];
  for (int32_t pe = 0; pe < world.pes(); ++pe) {
    blocks[pe] = ins.of(pe) + static_cast<uint64_t>(world.pe()) * bytes_per_pe;
  }
  reduce(out, blocks, world.pes(), count_per_pe);
  world.steps().meet();
  return true;
}

}  // namespace sparkgap
