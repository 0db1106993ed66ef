// Scratch: the symmetric memory that the kernels of a world exchange data through. Shared by host and device code.
//
//   +------------------+  0
//   | Counters         |  this PE's own: how far each lane is; nobody else reads or writes it
//   +------------------+  kFlagsAt
//   | FlagRecord       |  [lane][parity][source PE]: written by the source's same lane
//   +------------------+  kRingWordsAt
//   | uint32_t         |  [lane][parity][RingWord]: written by the PEs before and after this one (protocol/ring.h)
//   +------------------+  kArrivalsAt
//   | ChunkMark        |  [lane][source PE][slot of a channel]: which chunk is in it (protocol/channel.cuh)
//   +------------------+  kTakenAt
//   | uint32_t         |  [lane][PE]: the last chunk that this PE has taken, of those that we sent it
//   +------------------+  kPacketsAt
//   | Packet           |  [parity][other][most_packets(pes)]: data and flag in one 16-byte store
//   +------------------+  lines_begin(pes)
//   | Line             |  [parity][other][most_lines(pes)]: data alone (protocol/line.cuh)
//   +------------------+  hidden_begin(pes)
//   | uint8_t          |  [parity][other][most_lines(pes)]: which words of a line its zeros stand for
//   +------------------+  channels_at(pes)
//   | chunks           |  [lane][other][slot of a channel] of channel_slot_bytes(pes)
//   +------------------+  slots_at(pes)
//   | slots            |  [parity][lane][source PE] of slot_bytes(pes): data here, flag in the FlagRecord
//   +------------------+  exchange_begin(pes)
//   | ChannelState ... |  of kernels of users alone (sparkgap/device/exchange.h)
//   +------------------+  scratch_size(pes)
//
//   other: the source's place among those that are not this PE, the PE after it first
//
// Lanes. A lane is a block of a launch; in slots and channels block i of one PE exchanges data with block i of the
// others and with no other block. Each lane counts for itself, so launches of different sizes need no agreement beyond
// their own, and all PEs count alike because they make the same calls.
//
// Sequence numbers are on the device: a kernel reads its lane's when it starts and leaves the last it used, so a
// captured graph can be replayed, and launches, graphs and other algorithms may follow each other in any order. They
// only grow, and nothing is ever cleared. 32 bits: a number comes again after 2^32 uses of one lane, and even then it
// is mistaken only where what carries it has not been overwritten in between.
//
// Signatures. Whatever carries a number carries the signature of its call as well (KernelCall), so that a PE which has
// made another call is found out instead of being believed.
//
// Rotation.
// - Packets and lines have one number a call, the same in all lanes, and use the parity number % 2. Every PE hears from
//   every other in each such call (in lines, and where it has no data for a PE, it sends one empty packet), so a PE
//   that has ended call s + 1 knows that the others have begun it, and so have ended call s: what s + 2 overwrites has
//   been read. Whole kernels count here, so calls may differ in their lanes.
// - Slots: step s of a lane uses the parity s % 2. A PE writes step s only after it has received s - 1 from all, and a
//   PE sends s - 1 only after it has read all of s - 2 (lane.cuh). Within a ring, where a PE hears of its neighbours
//   only, another rule holds: protocol/ring.h.
// - Channels: each has as many slots as chunks may be on their way; a chunk is written once the one before it in its
//   slot is known to be taken (channel.cuh).
#ifndef SPARKGAP_PROTOCOL_SCRATCH_H
#define SPARKGAP_PROTOCOL_SCRATCH_H

#include <cstdint>

#include "protocol/kernel_world.h"
#include "protocol/ring.h"
#include "sparkgap/device/exchange.h"
#include "sparkgap/device/host_device.h"
#include "sparkgap/device/packet.h"

namespace sparkgap::kernels {

constexpr uint64_t kParities = 2;

// Of a channel: chunks that may be on their way from one PE to another in one lane.
constexpr uint64_t kChannelSlots = 16;

struct Counters {
  unsigned long long tickets;             // that calls in packets or lines have taken, kMaxLanes each
  uint32_t broken;                        // a wait has given up: every later one does at once
  uint32_t steps[kMaxLanes];              // number of the last step
  uint32_t sent[kMaxLanes][kMaxPes];      // number of the last chunk sent to a PE
  uint32_t received[kMaxLanes][kMaxPes];  // number of the last chunk received from a PE
  Meeting meeting;                        // of the blocks of a program
};

// `place`: KernelCall::place of the source; valid, like `signature`, with the step of the same parity.
struct alignas(16) FlagRecord {
  uint32_t step;
  uint32_t signature;
  uint64_t place;
};

// Written and read as one word.
struct alignas(8) ChunkMark {
  uint32_t number;
  uint32_t signature;
};

// For all sources together; a slot is a PE's share of it.
constexpr uint64_t kLaneSlotBytes = 256 << 10;

// For all sources together; a channel is a PE's share of it.
constexpr uint64_t kLaneChannelBytes = 256 << 10;

constexpr uint64_t kFlagsAt = 32 << 10;
constexpr uint64_t kRingWordsAt = kFlagsAt + kMaxLanes * kParities * kMaxPes * sizeof(FlagRecord);
constexpr uint64_t kArrivalsAt = kRingWordsAt + kMaxLanes * kParities * kRingWords * sizeof(uint32_t);
constexpr uint64_t kTakenAt = kArrivalsAt + kMaxLanes * kMaxPes * kChannelSlots * sizeof(ChunkMark);
constexpr uint64_t kPacketsAt = kTakenAt + kMaxLanes * kMaxPes * sizeof(uint32_t);
static_assert(sizeof(Counters) <= kFlagsAt && kPacketsAt % 256 == 0, "the parts of the scratch follow each other");

SPARKGAP_HOST_DEVICE constexpr uint64_t flag_at(uint64_t lane, uint64_t parity, uint64_t source) {
  return kFlagsAt + ((lane * kParities + parity) * kMaxPes + source) * sizeof(FlagRecord);
}

SPARKGAP_HOST_DEVICE constexpr uint64_t ring_word_at(uint64_t lane, uint64_t parity, uint64_t word) {
  return kRingWordsAt + ((lane * kParities + parity) * kRingWords + word) * sizeof(uint32_t);
}

SPARKGAP_HOST_DEVICE constexpr uint64_t arrival_at(uint64_t lane, uint64_t source, uint64_t slot) {
  return kArrivalsAt + ((lane * kMaxPes + source) * kChannelSlots + slot) * sizeof(ChunkMark);
}

SPARKGAP_HOST_DEVICE constexpr uint64_t taken_at(uint64_t lane, uint64_t pe) {
  return kTakenAt + (lane * kMaxPes + pe) * sizeof(uint32_t);
}

SPARKGAP_HOST_DEVICE constexpr uint64_t others(uint64_t pes) { return pes > 1 ? pes - 1 : 1; }

// `source`'s place among the others of PE `at`.
SPARKGAP_HOST_DEVICE constexpr uint64_t other_of(uint64_t pes, uint64_t at, uint64_t source) {
  return source > at ? source - at - 1 : source + pes - at - 1;
}

SPARKGAP_HOST_DEVICE constexpr uint64_t most_packets(uint64_t pes) {
  return (kPacketBytes / others(pes) + kWordBytes - 1) / kWordBytes;
}

SPARKGAP_HOST_DEVICE constexpr uint64_t most_lines(uint64_t pes) {
  return (kLineBytes / others(pes) + sizeof(Line) - 1) / sizeof(Line);
}

SPARKGAP_HOST_DEVICE constexpr uint64_t lines_begin(uint64_t pes) {
  return (kPacketsAt + kParities * others(pes) * most_packets(pes) * sizeof(Packet) + 255) / 256 * 256;
}

SPARKGAP_HOST_DEVICE constexpr uint64_t hidden_begin(uint64_t pes) {
  return lines_begin(pes) + kParities * others(pes) * most_lines(pes) * sizeof(Line);
}

SPARKGAP_HOST_DEVICE constexpr uint64_t channels_at(uint64_t pes) {
  return (hidden_begin(pes) + kParities * others(pes) * most_lines(pes) + 255) / 256 * 256;
}

SPARKGAP_HOST_DEVICE constexpr uint64_t channel_slot_bytes(uint64_t pes) {
  return kLaneChannelBytes / others(pes) / kChannelSlots / 256 * 256;
}

// Where packets, lines and chunks are, worked out once on the host: a GPU takes long to divide by the number of PEs.
struct Places {
  uint64_t packets_bytes;  // of one source's packets of one parity
  uint64_t lines_begin;
  uint64_t hidden_begin;
  uint64_t most_lines;
  uint64_t channels_begin;
  uint64_t slot_bytes;
  uint32_t pes;

  SPARKGAP_HOST_DEVICE uint64_t source(uint32_t at, uint32_t parity, uint32_t source) const {
    return parity * others(pes) + other_of(pes, at, source);
  }
  // What `source` writes to PE `at`.
  SPARKGAP_HOST_DEVICE uint64_t packets(uint32_t at, uint32_t parity, uint32_t from) const {
    return kPacketsAt + source(at, parity, from) * packets_bytes;
  }
  SPARKGAP_HOST_DEVICE uint64_t lines(uint32_t at, uint32_t parity, uint32_t from) const {
    return lines_begin + source(at, parity, from) * most_lines * sizeof(Line);
  }
  SPARKGAP_HOST_DEVICE uint64_t hidden(uint32_t at, uint32_t parity, uint32_t from) const {
    return hidden_begin + source(at, parity, from) * most_lines;
  }
  SPARKGAP_HOST_DEVICE uint64_t slot(uint32_t lane, uint32_t at, uint32_t from, uint32_t slot) const {
    return channels_begin + ((lane * others(pes) + other_of(pes, at, from)) * kChannelSlots + slot) * slot_bytes;
  }
};

constexpr Places places_of(uint64_t pes) {
  return {most_packets(pes) * sizeof(Packet),
          lines_begin(pes),
          hidden_begin(pes),
          most_lines(pes),
          channels_at(pes),
          channel_slot_bytes(pes),
          static_cast<uint32_t>(pes)};
}

SPARKGAP_HOST_DEVICE constexpr uint64_t slot_bytes(uint64_t pes) { return kLaneSlotBytes / pes / 256 * 256; }

SPARKGAP_HOST_DEVICE constexpr uint64_t slots_at(uint64_t pes) {
  return channels_at(pes) + kMaxLanes * others(pes) * kChannelSlots * channel_slot_bytes(pes);
}

SPARKGAP_HOST_DEVICE constexpr uint64_t slot_at(uint64_t pes, uint64_t lane, uint64_t parity, uint64_t source) {
  return slots_at(pes) + ((parity * kMaxLanes + lane) * pes + source) * slot_bytes(pes);
}

constexpr uint64_t exchange_begin(uint64_t pes) { return slot_at(pes, 0, kParities, 0); }

constexpr uint64_t scratch_size(uint64_t pes) {
  return exchange_begin(pes) + exchange_bytes(static_cast<uint32_t>(pes));
}

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_PROTOCOL_SCRATCH_H
