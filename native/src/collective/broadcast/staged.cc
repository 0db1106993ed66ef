#include "collective/broadcast/staged.h"

#include "collective/chunks.h"

namespace sparkgap {

void broadcast_staged(World& world, const void* in, void* out, uint64_t bytes, int32_t root) {
  Steps& steps = world.steps();
  const bool is_root = world.pe() == root;
  for_each_chunk(bytes, steps.slot_bytes(), [&](uint64_t first, uint64_t number) {
    steps.begin();
    if (is_root) {
      std::memcpy(steps.slot(root), advance(in, first), number);
      steps.post();
      if (in != out) std::memcpy(advance(out, first), advance(in, first), number);
    } else {
      steps.post();
      steps.wait_for(root);
      std::memcpy(advance(out, first), steps.slot(root), number);
    }
  });
}

}  // namespace sparkgap
