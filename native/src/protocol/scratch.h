// Scratch: the symmetric memory that the kernels of a world exchange data through. Shared by host and device code.
//
//   +------------------+  0
//   | Counters         |  this PE's own: how far each lane is; nobody else reads or writes it
//   +------------------+  kFlagsAt
//   | FlagRecord       |  [lane][parity][source PE]: written by the source's same lane
//   +------------------+  kRingWordsAt
//   | uint32_t         |  [lane][parity][RingWord]: written by the PEs before and after this one (protocol/ring.h)
//   +------------------+  kPacketsAt
//   | Packet           |  [parity][lane][source PE][kLanePackets]: data and flag in one 16-byte store
//   +------------------+  slots_at(pes)
//   | slots            |  [parity][lane][source PE] of slot_bytes(pes): data here, flag in the FlagRecord
//   +------------------+  scratch_size(pes)
//
// Lanes. A lane is a block of a launch; block i of one PE exchanges data with block i of the others and with no other
// block. Each lane counts for itself, so launches of different sizes need no agreement beyond their own, and all PEs
// count alike because they make the same calls.
//
// Sequence numbers are on the device: a kernel reads its lane's when it starts and leaves the last it used, so a
// captured graph can be replayed, and launches, graphs and other algorithms may follow each other in any order. They
// only grow, and nothing is ever cleared. 32 bits: a number comes again after 2^32 uses of one lane, and even then it
// is mistaken only where a packet has not been overwritten in between.
//
// Rotation, the same for packets and slots: number s uses the parity s % 2. A PE writes number s only after it has
// received s - 1 from all, and a PE sends s - 1 only after it has read all of s - 2. So what s overwrites has been
// read. Packets have a counter of their own, because one message in packets is one number; in slots it is a step
// (lane.cuh). Within a ring, where a PE hears of its neighbours only, another rule holds: protocol/ring.h.
#ifndef SPARKGAP_PROTOCOL_SCRATCH_H
#define SPARKGAP_PROTOCOL_SCRATCH_H

#include <cstdint>

#include "base/host_device.h"
#include "protocol/kernel_world.h"
#include "protocol/ring.h"

namespace sparkgap::kernels {

constexpr uint64_t kParities = 2;

struct Counters {
  uint32_t packets[kMaxLanes];  // number of the last message in packets
  uint32_t steps[kMaxLanes];    // number of the last step
  uint32_t broken;              // a wait has given up: every later one does at once
};

// `place`: KernelCall::place of the source, valid with the step of the same parity.
struct alignas(16) FlagRecord {
  uint32_t step;
  uint32_t reserved;
  uint64_t place;
};

// Two halves of 8 bytes, each with its flag: whatever is stored at once is at least that long.
struct alignas(16) Packet {
  uint32_t low;
  uint32_t low_flag;
  uint32_t high;
  uint32_t high_flag;
};

constexpr uint64_t kWordBytes = 8;  // of data in a packet
constexpr uint64_t kLanePackets = kLanePacketBytes / kWordBytes;

// For all sources together; a slot is a PE's share of it.
constexpr uint64_t kLaneSlotBytes = 256 << 10;

constexpr uint64_t kFlagsAt = 1024;
constexpr uint64_t kRingWordsAt = kFlagsAt + kMaxLanes * kParities * kMaxPes * sizeof(FlagRecord);
constexpr uint64_t kPacketsAt = kRingWordsAt + kMaxLanes * kParities * kRingWords * sizeof(uint32_t);
static_assert(sizeof(Counters) <= kFlagsAt && kPacketsAt % 256 == 0, "the parts of the scratch follow each other");

SPARKGAP_HOST_DEVICE constexpr uint64_t flag_at(uint64_t lane, uint64_t parity, uint64_t source) {
  return kFlagsAt + ((lane * kParities + parity) * kMaxPes + source) * sizeof(FlagRecord);
}

SPARKGAP_HOST_DEVICE constexpr uint64_t ring_word_at(uint64_t lane, uint64_t parity, uint64_t word) {
  return kRingWordsAt + ((lane * kParities + parity) * kRingWords + word) * sizeof(uint32_t);
}

SPARKGAP_HOST_DEVICE constexpr uint64_t packets_at(uint64_t pes, uint64_t lane, uint64_t parity, uint64_t source) {
  return kPacketsAt + ((parity * kMaxLanes + lane) * pes + source) * kLanePackets * sizeof(Packet);
}

SPARKGAP_HOST_DEVICE constexpr uint64_t slot_bytes(uint64_t pes) { return kLaneSlotBytes / pes / 256 * 256; }

SPARKGAP_HOST_DEVICE constexpr uint64_t slots_at(uint64_t pes) { return packets_at(pes, 0, kParities, 0); }

SPARKGAP_HOST_DEVICE constexpr uint64_t slot_at(uint64_t pes, uint64_t lane, uint64_t parity, uint64_t source) {
  return slots_at(pes) + ((parity * kMaxLanes + lane) * pes + source) * slot_bytes(pes);
}

constexpr uint64_t scratch_size(uint64_t pes) { return slot_at(pes, 0, kParities, 0); }

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_PROTOCOL_SCRATCH_H
