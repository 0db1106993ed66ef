#include "collective/all_reduce/direct.h"

#include "collective/chunks.h"
#include "collective/direct.h"

namespace sparkgap {

bool all_reduce_direct(World& world, const void* in, void* out, uint64_t count, uint64_t element_bytes,
                       ReduceFunction reduce, CopyFunction copy_out) {
  const DirectArrays ins(world, in, count * element_bytes, DirectArrays::Use::kAddress);
  if (!ins.usable()) return false;
  Steps& steps = world.steps();
  const uint64_t total = count * element_bytes;
  const uint64_t pes = static_cast<uint64_t>(world.pes());
  const void* parts[SPARKGAP_MAX_PES];
  for_each_chunk(total, steps.slot_bytes() * pes, [&](uint64_t first, uint64_t bytes) {
    const Parts piece(bytes, pes);
    const uint64_t begin = first + piece.begin(world.pe());
    const uint64_t size = piece.size(world.pe());
    for (int32_t pe = 0; pe < world.pes(); ++pe) parts[pe] = ins.of(pe) + begin;
    steps.begin();
    uint8_t* result = steps.slot(world.pe());
    reduce(result, parts, world.pes(), size / element_bytes);
    copy_out(advance(out, begin), result, size);
    steps.post();
    steps.wait_for_all();
    for (int32_t i = 1; i < world.pes(); ++i) {
      const int32_t peer = world.neighbour(i);
      copy_out(advance(out, first + piece.begin(peer)), steps.slot(peer), piece.size(peer));
    }
  });
  return true;
}

}  // namespace sparkgap
