#include "collective/broadcast/direct.h"

#include "collective/direct.h"

namespace sparkgap {

bool broadcast_direct(World& world, const void* in, void* out, uint64_t bytes, int32_t root, CopyFunction copy_out) {
  const bool is_root = world.pe() == root;
  DirectArrays ins(world, in, bytes, DirectArrays::Use::kCopy,
                   is_root ? DirectArrays::Role::kRead : DirectArrays::Role::kNotRead);
  if (!ins.usable()) return false;
  if (!is_root || in != out) ins.copy(out, root, 0, bytes, copy_out);
  return ins.finish();
}

}  // namespace sparkgap
