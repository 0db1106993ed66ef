// One PE's view of a world of kernels: what host and device code agree on. Plain C++: neither CUDA's headers nor its
// types are needed.
#ifndef SPARKGAP_PROTOCOL_KERNEL_WORLD_H
#define SPARKGAP_PROTOCOL_KERNEL_WORLD_H

#include <cstdint>

namespace sparkgap {

// WaitRecord::collective of a waitSignal.
constexpr int32_t kWaitSignal = 200;

// Which shape a kernel is launched in, among other things (select/routes.h).
class Routes;

}  // namespace sparkgap

namespace sparkgap::kernels {

// PEs of a GPU world, which is on one host. Tables of this size are kernel parameters.
constexpr int32_t kMaxPes = 16;

// Most lanes (blocks that exchange data independently of each other) that any kernel uses.
constexpr int32_t kMaxLanes = 128;

// What a PE can send in one call in packets, and in lines: the message times the PEs that it goes to.
constexpr uint64_t kPacketBytes = 256 << 10;
constexpr uint64_t kLineBytes = 64 << 20;

enum class WaitEnd : uint32_t {
  kNone = 0,
  kDeadline = 1,        // `peer` did not come within KernelWorld::deadline_ns
  kAborted = 2,         // the abort word was raised while waiting for `peer`
  kCountsDisagree = 3,  // allToAllv: `peer` sends `seen` bytes where this PE expects `expected`
  kCallsDiffer = 4,     // `peer` has made another call: its signature is `seen`, this PE's `expected`
};

// A call of a step: the numbers of both, from 1; 0: none.
struct StepPlace {
  int32_t step;
  int32_t call;
};

// In mapped host memory, one for each PE; the host zeroes it when the world is made. A kernel that gives up fills it
// once and writes `end` last; whatever this PE enqueued behind it gives up as well, with the record unchanged.
struct WaitRecord {
  uint32_t end;        // WaitEnd
  int32_t collective;  // SPARKGAP_ALL_REDUCE...
  int32_t peer;        // whom it waited for
  int32_t lane;        // in which slot
  uint64_t expected;   // the lane's sequence number, or bytes (kCountsDisagree), or a signature (kCallsDiffer)
  uint64_t seen;       // what was there instead
  StepPlace place;     // which call of which step it was; 0: of none
};

// Graphs of one kernel each, kept from call to call (collective/launch_cache.h).
class LaunchCache;

// One PE's view of its world, made at connect and unchanged from then on, but for `place`. Addresses are device
// addresses.
struct KernelWorld {
  int32_t pe;
  int32_t pes;                 // 1..kMaxPes
  int32_t lanes;               // from lanes_for(); the same on all PEs
  int32_t compute_major;       // of this PE's GPU: from 9 on back-to-back launches overlap
  uint64_t deadline_ns;        // of each wait of a kernel
  void* scratch[kMaxPes];      // scratch_bytes() each, zeroed on all PEs before the first launch on any; aligned to 256
  const uint32_t* abort_word;  // mapped host memory: not 0 ends every wait
  WaitRecord* record;          // mapped host memory
  LaunchCache* launches;       // not for the device; may be NULL, then every call is a launch by itself
  const Routes* routes;        // not for the device; the same on all PEs
  StepPlace place;             // that the launch has, which is being recorded then
};

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_PROTOCOL_KERNEL_WORLD_H
