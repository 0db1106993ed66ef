// What the staged algorithms share: cutting a message into pieces that fit a slot, and naming the inputs of a
// reduction.
#ifndef SPARKGAP_COLLECTIVE_CHUNKS_H
#define SPARKGAP_COLLECTIVE_CHUNKS_H

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "collective/host_node.h"

namespace sparkgap {

// Calls body(first, number) for pieces of at most `most` elements.
template <class Body>
void for_each_chunk(uint64_t count, uint64_t most, const Body& body) {
  for (uint64_t first = 0; first < count; first += most) body(first, std::min(most, count - first));
}

inline uint8_t* advance(void* address, uint64_t bytes) { return static_cast<uint8_t*>(address) + bytes; }
inline const uint8_t* advance(const void* address, uint64_t bytes) {
  return static_cast<const uint8_t*>(address) + bytes;
}

// How many elements of each of `blocks` blocks fit a slot together, keeping each block's start aligned to a cache line.
inline uint64_t elements_of_block(const Steps& steps, uint64_t blocks, uint64_t element_bytes) {
  return steps.slot_bytes() / blocks / kLineBytes * kLineBytes / element_bytes;
}

// How the PEs share the work on a piece of a message: parts start on cache lines, the last may be shorter or empty.
class Parts {
 public:
  Parts() = default;
  Parts(uint64_t bytes, uint64_t pes)
      : bytes_(bytes), part_bytes_(((bytes + pes - 1) / pes + kLineBytes - 1) / kLineBytes * kLineBytes) {}

  // Of PE `pe`'s part, relative to the piece.
  uint64_t begin(int32_t pe) const { return std::min(bytes_, static_cast<uint64_t>(pe) * part_bytes_); }
  uint64_t size(int32_t pe) const { return std::min(bytes_ - begin(pe), part_bytes_); }

 private:
  uint64_t bytes_ = 0;
  uint64_t part_bytes_ = 0;
};

// The inputs of a reduction in PE order: this PE's from where it lies, the others' from `offset` in their slots.
class Inputs {
 public:
  Inputs(const HostNode& node, const Steps& steps, const void* own, uint64_t offset) {
    for (int32_t pe = 0; pe < node.pes(); ++pe) inputs_[pe] = pe == node.pe() ? own : steps.slot(pe) + offset;
  }
  operator const void* const*() const { return inputs_; }

 private:
  const void* inputs_[SPARKGAP_MAX_PES];
};

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_CHUNKS_H
