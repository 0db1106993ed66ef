#include "collective/all_gather/direct.h"

#include "collective/chunks.h"
#include "collective/direct.h"

namespace sparkgap {

bool all_gather_direct(World& world, const void* in, void* out, uint64_t bytes_per_pe, CopyFunction copy_out) {
  DirectArrays ins(world, in, bytes_per_pe, DirectArrays::Use::kCopy);
  if (!ins.usable()) return false;
  uint8_t* own_block = advance(out, static_cast<uint64_t>(world.pe()) * bytes_per_pe);
  if (own_block != in) copy_out(own_block, in, bytes_per_pe);
  for (int32_t i = 1; i < world.pes(); ++i) {
    const int32_t peer = world.neighbour(i);
    ins.copy(advance(out, static_cast<uint64_t>(peer) * bytes_per_pe), peer, 0, bytes_per_pe, copy_out);
  }
  return ins.finish();
}

}  // namespace sparkgap
