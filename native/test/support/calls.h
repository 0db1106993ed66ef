// What the tests of collectives in host memory and on GPUs have in common: names, shapes, and what PEs put in.
#ifndef SPARKGAP_TEST_SUPPORT_CALLS_H
#define SPARKGAP_TEST_SUPPORT_CALLS_H

#include <cstdint>
#include <vector>

#include "description/collective.h"

namespace sparkgap::test {

// Of the memory that a case is given: what may not be written behind an array, what it is marked with, and by how many
// elements the arrays are moved.
constexpr uint64_t kGuard = 64;
constexpr char kMark = 0x5a;
constexpr uint64_t kLargestShift = 3;
constexpr uint64_t kSlack = kLargestShift * 8 + kGuard;

// Elements of one PE's arrays. `count` is a call's count or count_per_pe, for allToAllv the most that one PE sends to
// another.
uint64_t in_count(int32_t collective, uint64_t count, int pes);
uint64_t out_count(int32_t collective, uint64_t count, int pes);

// What an allToAllv sends from one PE to another: often nothing, always the same in both directions, so that the call
// can be in place. Blocks lie in the order of the PEs, with a gap of one element in front of each.
struct Exchange {
  uint64_t most;
  uint64_t salt;
  uint64_t count(int from, int to) const;
  // Where `pe` has the block for or from `peer`.
  uint64_t offset(int pe, int peer) const;
};

// A run of elements of a result, and where it comes from.
struct Run {
  uint64_t at;     // in the result
  uint64_t first;  // in what PEs put in
  uint64_t count;
  int from_pe;  // whose elements they are; kAllPes: the reduction of all PEs'
};
constexpr int kAllPes = -1;

// What `pe`'s result consists of, where it has one.
std::vector<Run> runs_of(int32_t collective, uint64_t count, int32_t root, uint64_t salt, int pe, int pes);

// Where `in` and `out` are in one array if the call is in place: offsets in elements.
struct InPlaceOffsets {
  uint64_t in;
  uint64_t out;
};
InPlaceOffsets in_place_offsets(int32_t collective, uint64_t count, int pe);

// Tells results of PEs apart.
uint64_t hash(const char* bytes, uint64_t size);

// Anything, with infinities, NaN and what has to be rounded; or small whole numbers, of which up to four PEs have the
// same result whatever order and precision they are reduced in.
enum class Elements { kAny, kSmallWhole };

// The elements that each PE puts in, which any PE can compute. To be made before the PEs are forked.
class Inputs {
 public:
  explicit Inputs(int pes, Elements elements = Elements::kAny);

  // Elements first..first+count-1 of what `pe` contributes.
  void fill(void* to, int32_t type, int pe, uint64_t first, uint64_t count, uint64_t salt) const;

 private:
  std::vector<std::vector<std::vector<char>>> pools_;  // of a type, of a PE
};

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_SUPPORT_CALLS_H
