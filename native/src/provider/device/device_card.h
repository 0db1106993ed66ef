// What PEs of a GPU world tell each other, and a provider of itself: plain structs.
#ifndef SPARKGAP_PROVIDER_DEVICE_DEVICE_CARD_H
#define SPARKGAP_PROVIDER_DEVICE_DEVICE_CARD_H

#include <cstdint>

#include "protocol/kernel_world.h"

namespace sparkgap {

// What every PE writes for the others before the provider starts, and reads of each.
struct DeviceCard {
  char provider[16];
  char uuid[48];
  char pci[32];
  char name[128];
  char library[256];  // path of the provider's library
  int32_t multiprocessors;
  int32_t max_blocks;       // of a kernel, that the user allows; 0: as many as are fastest
  int32_t library_version;  // major * 10000 + minor * 100 + patch
  int32_t reaches_by_rdma;  // what joins it to PEs of other nodes is an RDMA card, as far as one can tell
  uint8_t unique_id[128];   // PE 0: NVSHMEM's or NCCL's
};

// What a PE gives to the others so that they can reach its part of an allocation.
struct DeviceOffer {
  uint8_t handle[128];
};

// How a library that has sockets of its own is to use the network.
struct DeviceNetwork {
  const char* interface;  // the name of the only one to use
  bool is_ipv6;
  bool tcp_only;        // no RDMA, even where there is some
  const char* host_id;  // the same for the PEs of a node and for no others
};

struct DeviceWorldOptions {
  int32_t pe;
  int32_t pes;
  // The PEs of this one's node reach each other's GPU memory. Memory, kernels and links are numbered among them.
  int32_t near_pe;
  int32_t near_pes;
  uint64_t epoch;
  int64_t peer_timeout_ms;
  int32_t device;
  int32_t max_blocks;        // of a collective's kernel; 0: as many as are fastest
  int32_t resident_idle_ms;  // how long a kernel stays after a small call of host memory; 0: there is none
  const char* provider;      // "nvshmem" or "nccl"; static
  const char* library;       // "" or the path that the user gave
  const char* nccl_library;  // likewise, for NCCL beside NVSHMEM
  DeviceNetwork network;
  bool is_beside = false;  // of NCCL: beside NVSHMEM, for collectives alone

  bool spans_nodes() const { return near_pes != pes; }
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_DEVICE_DEVICE_CARD_H
