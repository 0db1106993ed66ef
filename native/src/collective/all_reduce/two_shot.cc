#include "collective/all_reduce/two_shot.h"

#include "collective/chunks.h"

namespace sparkgap {
namespace {

// A piece of the message and how the PEs share it: parts start on cache lines, the last may be shorter or empty.
struct Piece {
  uint64_t first = 0;  // byte of the message
  uint64_t bytes = 0;
  uint64_t part_bytes = 0;

  Piece() = default;
  Piece(uint64_t start, uint64_t size, uint64_t pes)
      : first(start), bytes(size), part_bytes(((size + pes - 1) / pes + kLineBytes - 1) / kLineBytes * kLineBytes) {}

  // Of PE `pe`'s part, relative to the piece.
  uint64_t part_begin(int32_t pe) const { return std::min(bytes, static_cast<uint64_t>(pe) * part_bytes); }
  uint64_t part_end(int32_t pe) const { return std::min(bytes, part_begin(pe) + part_bytes); }
  uint64_t part_size(int32_t pe) const { return part_end(pe) - part_begin(pe); }
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
    const Piece piece = first < total ? Piece(first, std::min(piece_bytes, total - first), pes) : Piece();
    const uint8_t* source = advance(in, first);

    steps.begin();
    uint8_t* slot = steps.slot(own);
    std::memcpy(slot, source, piece.part_begin(own));
    std::memcpy(slot + piece.part_end(own), source + piece.part_end(own), piece.bytes - piece.part_end(own));
    steps.post();
    steps.wait_for_all();

    if (piece.part_size(own) > 0) {
      uint8_t* result = steps.next_slot(own) + piece_bytes;
      const uint64_t begin = piece.part_begin(own);
      reduce(result, Inputs(world, steps, source + begin, begin), world.pes(), piece.part_size(own) / element_bytes);
      copy_out(advance(out, first + begin), result, piece.part_size(own));
    }
    for (int32_t i = 1; i < world.pes(); ++i) {
      const int32_t peer = world.neighbour(i);
      copy_out(advance(out, before.first + before.part_begin(peer)), steps.slot(peer) + piece_bytes,
               before.part_size(peer));
    }
    before = piece;
  }
}

}  // namespace sparkgap
