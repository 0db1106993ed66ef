// Small calls whose arrays are host memory by a kernel that stays on the GPU: the host rings it and finds the answer in
// its own memory, with no launch and no wait for a stream. one_trip/resident.cu says how, and engine/device/cuda has
// the host's end (resident.h).
//
// On the link it is what the calls one by one are, so a PE may make them so while another has a kernel that stays.
#ifndef SPARKGAP_COLLECTIVE_RESIDENT_H
#define SPARKGAP_COLLECTIVE_RESIDENT_H

#include <cstdint>

#include "collective/kernels.h"
#include "sparkgap/device/host_device.h"
#include "sparkgap/device/packet.h"

namespace sparkgap::kernels {

// The most of a message, and of all that a PE gives or gets in a call.
constexpr uint64_t kResidentBytes = 1024;
constexpr uint32_t kResidentWords = kResidentBytes / kWordBytes;

// What the host asks for. In front of the words of `in`.
struct ResidentCommand {
  uint32_t bytes;      // of a message
  uint32_t in_words;   // that follow
  uint32_t out_words;  // of the answer; if there are none, it is one empty packet
  uint32_t signature;
  uint16_t senders;  // as in TripCall
  uint16_t receivers;
  int16_t collective;
  int16_t type;  // -1: nothing is added
  int16_t op;
  uint16_t flags;
  uint32_t unused;
};

// Flags: the kernel leaves; no call of the world's was enqueued since the last command; there is a message for each PE
// in `in`, and one of each in `out`.
constexpr uint16_t kResidentStops = 1;
constexpr uint16_t kResidentIsNext = 2;
constexpr uint16_t kResidentInBlocks = 4;
constexpr uint16_t kResidentOutBlocks = 8;

constexpr uint32_t kResidentHeadWords = sizeof(ResidentCommand) / kWordBytes;
static_assert(sizeof(ResidentCommand) % kWordBytes == 0);

// In mapped host memory. Packets carry the number of the command twice, 1 and up.
struct ResidentBoard {
  Packet command[kResidentHeadWords + kResidentWords];  // written by the host
  Packet answer[kResidentWords];                        // written by the kernel
  uint64_t left;                                        // the number of the launch that has left the GPU
};

SPARKGAP_HOST_DEVICE constexpr uint32_t next_command(uint32_t number) { return number + 1 == 0 ? 1 : number + 1; }

// The command for a call in packets of which this PE gives `read` bytes and gets `written`.
ResidentCommand resident_command(const KernelWorld& world, const CollectiveCall& call, uint64_t read, uint64_t written);

// Launches the kernel, which waits for command `next` and those after it, and leaves after a command to stop, after
// `idle_ns` without any, when the world is aborted, and when a wait gives up. A cudaError_t.
int32_t launch_resident(const KernelWorld& world, CUstream_st* stream, ResidentBoard* board, uint32_t next,
                        uint64_t launch, uint64_t idle_ns);

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_RESIDENT_H
