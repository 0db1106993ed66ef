#include "collective/broadcast/direct.h"

#include "collective/direct.h"

namespace sparkgap {

bool broadcast_direct(World& world, const void* in, void* out, uint64_t bytes, int32_t root, CopyFunction copy_out) {
  const bool is_root = world.pe() == root;
  const DirectArrays ins(world, in, bytes, is_root ? DirectArrays::Role::kRead : DirectArrays::Role::kNotRead);
  if (!ins.usable()) return false;
  if (!is_root || in != out) copy_out(out, ins.of(root), bytes);
  world.steps().meet();
  return true;
}

}  // namespace sparkgap
