// The memory that kernels of users exchange data through: channels, apart from what the library's own calls use, so
// that either may be under way while the other is. Plain C++, for the host that makes the memory.
//
//   +----------------+  0
//   | ChannelState   |  [channel]: this PE's own
//   +----------------+  kChannelPacketsAt
//   | Packet         |  [channel][parity][other][channel_packets(pes)]: written by the source's same channel
//   +----------------+  exchange_bytes(pes)
//
//   other: the source's place among those that are not this PE, the PE after it first
//
// A channel is one block of a kernel on each PE. Each has a number that grows with every exchange, on all PEs alike,
// and uses the parity number % 2. In every exchange a block hears from the same block of every other PE, and its
// threads meet between two: so once it has ended exchange s + 1, the others have begun it and have read all of s, and
// what s + 2 overwrites has been read. Nothing is ever cleared.
#ifndef SPARKGAP_DEVICE_EXCHANGE_H
#define SPARKGAP_DEVICE_EXCHANGE_H

#include <cstdint>

#include "sparkgap/device/host_device.h"
#include "sparkgap/device/packet.h"

namespace sparkgap::device {

// Channels that a world has.
constexpr uint32_t kChannels = 512;

// Packets of a channel and parity, for all sources together.
constexpr uint32_t kChannelBytes = 32 << 10;

// Where blocks of one PE wait for each other.
struct Meeting {
  uint32_t arrived;  // of those that wait
  uint32_t turn;     // how often all have come
};

struct alignas(64) ChannelState {
  uint32_t number;  // of the last exchange
  Meeting meeting;  // of a grid whose first channel this is
};

constexpr uint64_t kChannelPacketsAt = kChannels * sizeof(ChannelState);

SPARKGAP_HOST_DEVICE constexpr uint32_t channel_others(uint32_t pes) { return pes > 1 ? pes - 1 : 1; }

// Of one source: as many words a message can have in one exchange.
SPARKGAP_HOST_DEVICE constexpr uint32_t channel_packets(uint32_t pes) {
  return kChannelBytes / channel_others(pes) / static_cast<uint32_t>(sizeof(Packet));
}

constexpr uint64_t exchange_bytes(uint32_t pes) {
  return kChannelPacketsAt + uint64_t{2} * kChannels * channel_others(pes) * channel_packets(pes) * sizeof(Packet);
}

}  // namespace sparkgap::device

#endif  // SPARKGAP_DEVICE_EXCHANGE_H
