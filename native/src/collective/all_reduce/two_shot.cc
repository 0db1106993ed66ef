#include "collective/all_reduce/two_shot.h"

#include "collective/chunks.h"

namespace sparkgap {
namespace {

// A piece of the message, from byte `first`, and how the PEs share it.
struct Piece {
  uint64_t first = 0;
  uint64_t bytes = 0;
  Parts parts;
};

// The largest piece that fits a slot together with a part of one.
uint64_t largest_piece(const World& world) {
  const uint64_t pes = static_cast<uint64_t>(world.pes());
  return (world.control().slot_bytes() * pes / (pes + 1) - kLineBytes) / kLineBytes * kLineBytes;
}

}  // namespace

void all_reduce_two_shot(World& world, const void* in, void* out, uint64_t count, uint64_t element_bytes,
                         ReduceFunction reduce, CopyFunction copy_out) {
  Steps& steps = world.steps();
  const int32_t own = world.pe();
  const uint64_t pes = static_cast<uint64_t>(world.pes());
  const uint64_t total = count * element_bytes;
  const uint64_t piece_bytes = largest_piece(world);

  Piece before;
  for (uint64_t first = 0; first < total + piece_bytes; first += piece_bytes) {
    const uint64_t bytes = first < total ? std::min(piece_bytes, total - first) : 0;
    const Piece piece = {first, bytes, Parts(bytes, pes)};
    const uint8_t* source = advance(in, first);

    steps.begin();
    uint8_t* slot = steps.slot(own);
    const uint64_t begin = piece.parts.begin(own);
    const uint64_t size = piece.parts.size(own);
    const uint64_t end = begin + size;
    std::memcpy(slot, source, begin);
    std::memcpy(slot + end, source + end, bytes - end);
    steps.post();
    steps.wait_for_all();

    if (size > 0) {
      uint8_t* result = steps.next_slot(own) + piece_bytes;
      reduce(result, Inputs(world, steps, source + begin, begin), world.pes(), size / element_bytes);
      copy_out(advance(out, first + begin), result, size);
    }
    for (int32_t i = 1; i < world.pes(); ++i) {
      const int32_t peer = world.neighbour(i);
      copy_out(advance(out, before.first + before.parts.begin(peer)), steps.slot(peer) + piece_bytes,
               before.parts.size(peer));
    }
    before = piece;
  }
}

}  // namespace sparkgap
