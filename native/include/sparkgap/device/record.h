// What a kernel leaves for the host when it gives up. Plain C++: neither CUDA's headers nor its types are needed.
#ifndef SPARKGAP_DEVICE_RECORD_H
#define SPARKGAP_DEVICE_RECORD_H

#include "sparkgap/device_world.h"

namespace sparkgap::device {

enum class WaitEnd : uint32_t {
  kNone = 0,
  kDeadline = 1,        // `peer` did not come within the world's deadline
  kAborted = 2,         // the abort word was raised while waiting for `peer`
  kCountsDisagree = 3,  // allToAllv: `peer` sends `seen` bytes where this PE expects `expected`
  kCallsDiffer = 4,     // `peer` has made another call: its signature is `seen`, this PE's `expected`
  kNoSuchChannel = 5,   // a kernel of the caller's asked for channel `seen`, and there are `expected`
  kNoSuchExpert = 6,    // entry `expected` of a table whose rows have `lane` entries names expert, or PE, `seen`
  kNoRoom = 7,          // expert `lane` on `peer` would get `seen` rows, and has room for `expected`
  kRowsDiffer = 8,      // `seen` rows are to be combined, and `expected` were dispatched
};

// sparkgap_wait_record::collective of waits that are in no collective: for a signal, and of a kernel's blocks for each
// other.
constexpr int32_t kWaitSignal = 200;
constexpr int32_t kWaitBlocks = 201;

// Added to it in kernels of the caller's.
constexpr int32_t kInCallersKernel = 1 << 16;

}  // namespace sparkgap::device

// In mapped host memory, one for each PE; the host zeroes it when the world is made. A kernel that gives up fills it
// once and writes `end` last; whatever this PE enqueued behind it gives up as well, with the record unchanged.
struct sparkgap_wait_record {
  uint32_t end;               // WaitEnd
  int32_t collective;         // SPARKGAP_ALL_REDUCE..., SPARKGAP_DISPATCH..., kWaitSignal or kWaitBlocks
  int32_t peer;               // whom it waited for; -1: nobody in particular
  int32_t lane;               // in which slot, or channel
  uint64_t expected;          // the lane's sequence number, or bytes (kCountsDisagree), or a signature (kCallsDiffer)
  uint64_t seen;              // what was there instead
  sparkgap_step_place place;  // which call of which step it was; 0: of none
};

#endif  // SPARKGAP_DEVICE_RECORD_H
