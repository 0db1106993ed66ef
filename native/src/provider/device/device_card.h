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
  uint8_t unique_id[128];   // PE 0: NVSHMEM's or NCCL's
};

// What a PE gives to the others so that they can reach its part of an allocation.
struct DeviceOffer {
  uint8_t handle[128];
};

struct DeviceWorldOptions {
  int32_t pe;
  int32_t pes;
  uint64_t epoch;
  int64_t peer_timeout_ms;
  int32_t device;
  int32_t max_blocks;    // of a collective's kernel; 0: as many as are fastest
  const char* provider;  // "nvshmem" or "nccl"; static
  const char* library;   // "" or the path that the user gave
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_DEVICE_DEVICE_CARD_H
