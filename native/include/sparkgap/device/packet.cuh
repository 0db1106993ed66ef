// A packet: 8 bytes of data and their sequence number in one store. Who sees the number has the data, without a fence
// and without a second trip over the link; the price is twice the bytes.
#ifndef SPARKGAP_DEVICE_PACKET_CUH
#define SPARKGAP_DEVICE_PACKET_CUH

#include "sparkgap/device/packet.h"
#include "sparkgap/device/wait.cuh"

namespace sparkgap::device {

// What the packets, lines or marks of one call carry beside their data.
struct Stamp {
  uint32_t number;
  uint32_t signature;
};

__device__ __forceinline__ void store_packet(Packet* packet, uint64_t word, const Stamp& stamp) {
  const uint32_t low = static_cast<uint32_t>(word);
  const uint32_t high = static_cast<uint32_t>(word >> 32);
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(packet), "r"(low), "r"(stamp.number),
               "r"(high), "r"(stamp.number ^ stamp.signature)
               : "memory");
}

// False if the wait gave up.
__device__ __forceinline__ bool receive_packet(const sparkgap_device_world& world, const Awaited& awaited,
                                               const Packet* packet, uint64_t* word) {
  return wait_until(world, awaited, [&](Seen* seen) {
    uint32_t low, number, high, check;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(low), "=r"(number), "=r"(high), "=r"(check)
                 : "l"(packet)
                 : "memory");
    *seen = {number, check ^ awaited.number};
    *word = static_cast<uint64_t>(high) << 32 | low;
    return number == awaited.number && seen->signature == awaited.signature;
  });
}

}  // namespace sparkgap::device

#endif  // SPARKGAP_DEVICE_PACKET_CUH
