// What PE 0 hands to the others so that they find the control segment and know that it is the right one.
#ifndef SPARKGAP_PROVIDER_HOST_WORLD_ID_H
#define SPARKGAP_PROVIDER_HOST_WORLD_ID_H

#include <cstdint>

#include "protocol/layout.h"
#include "provider/provider.h"

namespace sparkgap {

struct HostWorldId {
  uint64_t magic;
  uint32_t abi_version;
  int32_t pes;
  uint64_t epoch;
  uint64_t key[2];
  uint64_t segment_bytes;
  uint64_t pid_namespace;
  uint64_t start_time;
  int32_t pid;
  int32_t fd;
  char boot_id[40];
  char host[kHostBytes];
};
static_assert(sizeof(HostWorldId) <= SPARKGAP_WORLD_ID_BYTES, "an id must fit into what the rendezvous carries");

constexpr uint64_t kHostWorldMagic = 0x74736f6870616773u;  // "sgaphost"

// Throws unless the id names a world of this host, library, epoch and number of PEs whose PE 0 still runs.
HostWorldId parse_host_world_id(const uint8_t* bytes, const WorldOptions& options);

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_HOST_WORLD_ID_H
