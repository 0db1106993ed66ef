#include "collective/all_to_all/direct.h"

#include "collective/chunks.h"
#include "collective/direct.h"

namespace sparkgap {

bool all_to_all_direct(World& world, const void* in, void* out, uint64_t bytes_per_pe, CopyFunction copy_out) {
  // An array that is not there is one that nobody can read.
  const void* readable = in == out ? nullptr : in;
  DirectArrays ins(world, readable, static_cast<uint64_t>(world.pes()) * bytes_per_pe, DirectArrays::Use::kCopy);
  if (!ins.usable()) return false;
  const uint64_t own_piece = static_cast<uint64_t>(world.pe()) * bytes_per_pe;
  copy_out(advance(out, own_piece), advance(in, own_piece), bytes_per_pe);
  for (int32_t i = 1; i < world.pes(); ++i) {
    const int32_t peer = world.neighbour(i);
    ins.copy(advance(out, static_cast<uint64_t>(peer) * bytes_per_pe), peer, own_piece, bytes_per_pe, copy_out);
  }
  return ins.finish();
}

}  // namespace sparkgap
