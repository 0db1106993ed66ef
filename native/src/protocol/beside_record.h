// What a PE says in the control segment of NCCL beside NVSHMEM (engine/device/beside.h): a plain struct, apart from the
// rest of the segment, of which libsparkgap_cuda.so knows nothing.
#ifndef SPARKGAP_PROTOCOL_BESIDE_RECORD_H
#define SPARKGAP_PROTOCOL_BESIDE_RECORD_H

#include <stdint.h>

namespace sparkgap {

// What a PE has of it.
struct BesideCard {
  uint8_t id[128];  // of PE 0: with which all start it
  uint64_t place;   // a digest of the GPU, and of what NCCL takes for the host: no two PEs of a world may have the same
  int32_t version;  // major * 10000 + minor * 100 + patch
  int32_t reserved;
};

// States of BesideRecord::state. It only grows.
enum : uint32_t { kBesideUnknown = 0, kBesideLoaded = 1, kBesideReady = 2, kBesideNone = 3 };

struct BesideRecord {
  uint32_t state;  // written last
  char told[252];  // where the library is, or why there is none
  BesideCard card;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_BESIDE_RECORD_H
