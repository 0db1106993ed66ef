// Sending and receiving a small message as packets (protocol/layout.h): no wait for a flag apart from the data.
#ifndef SPARKGAP_COLLECTIVE_PACKETS_H
#define SPARKGAP_COLLECTIVE_PACKETS_H

#include <cstdint>
#include <cstring>

#include "protocol/steps.h"

namespace sparkgap {

// Calls body(line, first byte, bytes) for the packets of a message; `bytes` is kPacketDataBytes for all but the last,
// and the compiler knows it there.
template <class Body>
inline void for_each_packet(uint64_t bytes, const Body& body) {
  uint64_t line = 0;
  uint64_t first = 0;
  for (; first + kPacketDataBytes <= bytes; first += kPacketDataBytes) body(line++, first, kPacketDataBytes);
  if (first < bytes) body(line, first, bytes - first);
}

// Writes `data` into the packets of the step of `pe`, which is this PE.
inline void send_packets(const Steps& steps, int32_t pe, const void* data, uint64_t bytes) {
  Packet* packets = steps.packets(pe);
  const uint64_t flag = steps.packet_flag();
  for_each_packet(bytes, [&](uint64_t line, uint64_t first, uint64_t number) {
    std::memcpy(packets[line].data, static_cast<const uint8_t*>(data) + first, number);
    store_release(&packets[line].flag, flag);
  });
}

// Copies what `peer` sends in the step, as it arrives.
inline void receive_packets(const Steps& steps, int32_t peer, void* data, uint64_t bytes) {
  const Packet* packets = steps.packets(peer);
  const uint64_t flag = steps.packet_flag();
  for_each_packet(bytes, [&](uint64_t line, uint64_t first, uint64_t number) {
    const uint64_t* word = &packets[line].flag;
    steps.waiter().until(peer, [word, flag] { return load_acquire(word) == flag; });
    std::memcpy(static_cast<uint8_t*>(data) + first, packets[line].data, number);
  });
}

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_PACKETS_H
