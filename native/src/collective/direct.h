// Reading arrays where they are: what the algorithms named `direct` share.
//
//   step 1:   every PE shows in its slot where its array lies; wait for all
//             ... the algorithm reads the others' arrays ...
//   last:     every PE has read what it wanted (finish(), or a later step that shows as much)
//
// An array in the symmetric heap is mapped here. One elsewhere is in reach all the same where it is only copied: the
// kernel copies it out of the peer's process (process_vm_readv), once and with no word from the peer, also where that
// is this very process: the peer's call may fail and its caller free the array while it is read. That is not worth it
// for small ones, which take another algorithm. The kernel may forbid it (Yama, seccomp, a process that cannot be
// dumped) or have no way to some memory (a device's). Then all PEs see that, alike, and take another algorithm; from
// that call on the world counts on the symmetric heap only.
#ifndef SPARKGAP_COLLECTIVE_DIRECT_H
#define SPARKGAP_COLLECTIVE_DIRECT_H

#include <cstdint>

#include "collective/host_node.h"
#include "reduce/reduce.h"

namespace sparkgap {

class DirectArrays {
 public:
  // What this PE's array is to the others; the same array may be something else on another PE.
  enum class Role { kRead, kNotRead };

  // What the algorithm does with the others' arrays, the same on all PEs.
  enum class Use { kAddress, kCopy };

  // Collective, one step: shows this PE's `array` of `bytes` to all, and finds the others'. A null one is in nobody's
  // reach.
  DirectArrays(HostNode& node, const void* array, uint64_t bytes, Use use, Role role = Role::kRead);

  // The same on all PEs: whether every array that has to be read by others can be.
  bool usable() const { return usable_; }

  // Where this process sees `pe`'s array; only if usable, for kAddress, and if that PE's is read by others.
  const uint8_t* of(int32_t pe) const { return arrays_[pe].address; }

  // Copies `bytes` from `offset` on of `pe`'s array; only if usable, and if that PE's is read by others. `copy` is for
  // an array that this process can address. What goes wrong is finish()'s to say.
  void copy(void* dst, int32_t pe, uint64_t offset, uint64_t bytes, CopyFunction copy);

  // Collective, one step: returns when every PE has read what it wanted. False, on all PEs alike, if one of them could
  // not; what was to be copied is then not there.
  bool finish();

 private:
  struct Array {
    const uint8_t* address = nullptr;
    bool is_here = false;  // this process can address it
  };

  HostNode& node_;
  bool usable_ = true;
  bool crosses_processes_ = false;  // some array is not in the symmetric heap; the same on all PEs
  bool read_all_ = true;
  Array arrays_[SPARKGAP_MAX_PES];
};

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_DIRECT_H
