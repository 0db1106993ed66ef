// Reading arrays where they are: what the algorithms named `direct` share.
//
//   step 1:   every PE shows in its slot where its array lies in the symmetric heap; wait for all
//             ... the algorithm reads the others' arrays ...
//   last:     every PE has read what it wanted (a meeting, or a later step that shows as much)
//
// An array that lies elsewhere cannot be read by others. Then all PEs see that, alike, and take another algorithm.
#ifndef SPARKGAP_COLLECTIVE_DIRECT_H
#define SPARKGAP_COLLECTIVE_DIRECT_H

#include <cstdint>

#include "world.h"

namespace sparkgap {

class DirectArrays {
 public:
  // Whether the other PEs have to read this PE's array.
  enum class Role { kRead, kNotRead };

  // Collective, one step: shows this PE's `array` of `bytes` to all, and finds the others'.
  DirectArrays(World& world, const void* array, uint64_t bytes, Role role = Role::kRead);

  // The same on all PEs: whether every array that has to be read by others can be.
  bool usable() const { return usable_; }

  // Where this process sees `pe`'s array; only if usable, and that PE's is read by others.
  const uint8_t* of(int32_t pe) const { return arrays_[pe]; }

 private:
  bool usable_ = true;
  const uint8_t* arrays_[SPARKGAP_MAX_PES];
};

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_DIRECT_H
