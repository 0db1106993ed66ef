// A packet: 8 bytes of data and their sequence number in one store. Who sees the number has the data, without a fence
// and without a second trip over the link; the price is twice the bytes.
#ifndef SPARKGAP_PROTOCOL_PACKET_CUH
#define SPARKGAP_PROTOCOL_PACKET_CUH

#include "protocol/wait.cuh"

namespace sparkgap::kernels {

__device__ __forceinline__ void store_packet(Packet* packet, uint64_t word, uint32_t number) {
  const uint32_t low = static_cast<uint32_t>(word);
  const uint32_t high = static_cast<uint32_t>(word >> 32);
  asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(packet), "r"(low), "r"(number), "r"(high)
               : "memory");
}

// False if the wait gave up.
__device__ __forceinline__ bool receive_packet(const KernelWorld& world, const Awaited& awaited, const Packet* packet,
                                               uint64_t* word) {
  return wait_until(world, awaited, [&](uint32_t* seen) {
    uint32_t low, low_flag, high, high_flag;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(low), "=r"(low_flag), "=r"(high), "=r"(high_flag)
                 : "l"(packet)
                 : "memory");
    *seen = low_flag;
    *word = static_cast<uint64_t>(high) << 32 | low;
    return low_flag == awaited.number && high_flag == awaited.number;
  });
}

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_PROTOCOL_PACKET_CUH
