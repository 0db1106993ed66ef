// Reading arrays where they are: what the algorithms named `direct` share.
//
//   step 1:   every PE shows where its array lies, in the line of its step; wait for those whose arrays are read
//             ... the algorithm reads the others' arrays ...
//   step 2:   every PE has read what it wanted (finish(), or a later step that shows as much)
//
// An array in the symmetric heap is mapped here. One elsewhere is put into the slot of step 1, while it fits: then the
// call is what `staged` is. A larger one is in reach all the same where it is only copied: the kernel copies it out of
// the peer's process (process_vm_readv), once and with no word from the peer, also where that is this very process: the
// peer's call may fail and its caller free the array while it is read. The kernel may forbid the reading of processes
// (Yama, seccomp, a process that cannot be dumped) or have no way to some memory (a device's). Then all PEs see that,
// alike, and take another algorithm; from that call on the world counts on the symmetric heap and on slots only.
//
// Where all arrays that are read lie in slots there is no step 2. Step 2 keeps a caller from changing its array while
// others read it; a slot is written again in step 3 at the earliest, and not before all have posted the step after that
// in which they read (protocol/layout.h). All PEs see the same places, so that they agree on whether there is a step 2.
#ifndef SPARKGAP_COLLECTIVE_DIRECT_H
#define SPARKGAP_COLLECTIVE_DIRECT_H

#include <cstdint>

#include "collective/host_node.h"
#include "reduce/reduce.h"

namespace sparkgap {

class DirectArrays {
 public:
  // What the algorithm does with the others' arrays.
  enum class Use { kAddress, kCopy };

  // Whose arrays are read, and by whom.
  enum class Readers {
    kAllOfAll,     // every PE's, by all
    kAllOfRoot,    // the root's, by all
    kRootOfOthers  // those of all but the root, by the root
  };

  // An array of this PE. Only `in` and `changes` may differ between PEs.
  struct Own {
    const void* in;
    uint64_t bytes;
    uint64_t block_bytes = 0;  // it has a block for each PE, of which that PE's is not read by others; 0: no blocks
    bool changes = false;      // it is written to before all have read it: they have to find it in the slot
  };

  // Collective, the first half of a step: shows where this PE's array is. Nothing else can be asked before find().
  DirectArrays(HostNode& node, const Own& own, Use use, Readers readers = Readers::kAllOfAll, int32_t root = kNoPe);

  // The other half: waits for the others, and says, the same on all PEs, whether every array that is read can be. Only
  // then the rest may be asked for.
  bool find();

  // The same on all PEs: whether every array that is read is in a slot. Then it can be read until this PE posts its
  // next step.
  bool all_in_slots() const { return all_in_slots_; }

  // Where this process sees `pe`'s array, if that is read or its own; only for kAddress.
  const uint8_t* of(int32_t pe) const { return arrays_[pe].address; }

  // Copies `bytes` from `offset` on of `pe`'s array, which is read. `copy` is for an array that this
  // process can address. What goes wrong is finish()'s to say.
  void copy(void* dst, int32_t pe, uint64_t offset, uint64_t bytes, CopyFunction copy);

  // Collective, at most one step: when it returns, nobody reads this PE's array any more. False, on all PEs alike, if
  // one of them could not read what it wanted; what was to be copied is then not there.
  bool finish();

 private:
  struct Array {
    const uint8_t* address;
    bool is_here;  // this process can address it
  };

  bool is_read(int32_t pe) const;
  void put_into_slot(const Own& own);
  void find(int32_t pe);

  HostNode& node_;
  const uint64_t bytes_;
  const Use use_;
  const Readers readers_;
  const int32_t root_;
  bool found_all_ = true;
  bool all_in_slots_ = true;
  bool crosses_processes_ = false;  // some array has to be fetched out of a process; the same on all PEs
  bool some_change_ = false;        // some array is written to before all have read it; the same on all PEs
  bool read_all_ = true;
  Array arrays_[SPARKGAP_MAX_PES];  // those that are read and this PE's; to clear all costs as much as a small call
};

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_DIRECT_H
