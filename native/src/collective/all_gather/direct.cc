#include "collective/all_gather/direct.h"

#include "collective/chunks.h"
#include "collective/direct.h"

namespace sparkgap {

bool all_gather_direct(World& world, const void* in, void* out, uint64_t bytes_per_pe, CopyFunction copy_out) {
  const DirectArrays ins(world, in, bytes_per_pe);
  if (!ins.usable()) return false;
  uint8_t* own_block = advance(out, static_cast<uint64_t>(world.pe()) * bytes_per_pe);
  if (own_block != in) copy_out(own_block, in, bytes_per_pe);
  for (int32_t i = 1; i < world.pes(); ++i) {
    const int32_t peer = world.neighbour(i);
    copy_out(advance(out, static_cast<uint64_t>(peer) * bytes_per_pe), ins.of(peer), bytes_per_pe);
  }
  world.steps().meet();
  return true;
}

}  // namespace sparkgap
