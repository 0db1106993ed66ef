// What small messages are made of on their way. Plain C++, for the host that has to know how long they are.
#ifndef SPARKGAP_DEVICE_PACKET_H
#define SPARKGAP_DEVICE_PACKET_H

#include <cstdint>

namespace sparkgap::device {

// Two halves of 8 bytes, each with its flag: whatever is stored at once is at least that long.
struct alignas(16) Packet {
  uint32_t low;
  uint32_t number;
  uint32_t high;
  uint32_t check;  // number ^ signature
};

constexpr uint64_t kWordBytes = 8;  // of data in a packet

// Two words of a message.
struct alignas(16) Line {
  uint64_t low;
  uint64_t high;
};

}  // namespace sparkgap::device

#endif  // SPARKGAP_DEVICE_PACKET_H
