// One PE's view of a world of kernels: what host and device code agree on. Plain C++: neither CUDA's headers nor its
// types are needed.
#ifndef SPARKGAP_PROTOCOL_KERNEL_WORLD_H
#define SPARKGAP_PROTOCOL_KERNEL_WORLD_H

#include <cstdint>

#include "sparkgap/device/record.h"
#include "sparkgap/device_world.h"

namespace sparkgap {

// Which shape a kernel is launched in, among other things (select/routes.h).
class Routes;

}  // namespace sparkgap

namespace sparkgap::kernels {

// Our kernels are made of the pieces that those of users are made of (native/include/sparkgap/device).
using namespace device;

// PEs of a GPU world, which is on one host. Tables of this size are kernel parameters.
constexpr int32_t kMaxPes = SPARKGAP_DEVICE_PES;

// Most lanes (blocks that exchange data independently of each other) that any kernel uses.
constexpr int32_t kMaxLanes = 128;

// What a PE can send in one call in packets, and in lines: the message times the PEs that it goes to.
constexpr uint64_t kPacketBytes = 256 << 10;
constexpr uint64_t kLineBytes = 64 << 20;

using StepPlace = sparkgap_step_place;

// Where one kernel makes several calls of a step (collective/program.h), its place has the step alone, and the record's
// lane has the call's number above these bits.
constexpr int32_t kLaneBits = 8;

using WaitRecord = sparkgap_wait_record;

// Graphs of one kernel each, kept from call to call (collective/launch_cache.h).
class LaunchCache;

// One PE's view of its world, made at connect and unchanged from then on, but for `place`: what kernels of users see of
// it, and what is ours. `lanes` is from lanes_for(); `scratch` has scratch_bytes() on each PE, zeroed on all before the
// first launch on any, and is aligned to 256.
struct KernelWorld : sparkgap_device_world {
  int64_t compute_major;  // of this PE's GPU: from 9 on back-to-back launches overlap
  LaunchCache* launches;  // not for the device; may be NULL, then every call is a launch by itself
  const Routes* routes;   // not for the device; the same on all PEs
};

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_PROTOCOL_KERNEL_WORLD_H
