#include "collective/reduce/direct.h"

#include "collective/direct.h"

namespace sparkgap {

bool reduce_direct(World& world, const void* in, void* out, uint64_t count, uint64_t element_bytes,
                   ReduceFunction reduce, int32_t root) {
  const bool is_root = world.pe() == root;
  const DirectArrays ins(world, in, count * element_bytes, DirectArrays::Use::kAddress,
                         is_root ? DirectArrays::Role::kNotRead : DirectArrays::Role::kRead);
  if (!ins.usable()) return false;
  if (is_root) {
    const void* arrays[SPARKGAP_MAX_PES];
    for (int32_t pe = 0; pe < world.pes(); ++pe) arrays[pe] = pe == root ? in : ins.of(pe);
    reduce(out, arrays, world.pes(), count);
  }
  world.steps().meet();
  return true;
}

}  // namespace sparkgap
