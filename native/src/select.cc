#include "select.h"

#include <algorithm>
#include <cstring>

#include "device/kernels.h"
#include "protocol/layout.h"

namespace sparkgap {
namespace {

struct Entry {
  Algorithm algorithm;
  const char* name;
  const char* routes[kProviderKinds];
};

#define SPARKGAP_ROUTES(name) {"host/" name, "nvshmem/" name, "nccl/" name}
constexpr Entry kEntries[] = {
    {Algorithm::kPackets, "packets", SPARKGAP_ROUTES("packets")},
    {Algorithm::kOneShot, "one-shot", SPARKGAP_ROUTES("one-shot")},
    {Algorithm::kTwoShot, "two-shot", SPARKGAP_ROUTES("two-shot")},
    {Algorithm::kStaged, "staged", SPARKGAP_ROUTES("staged")},
    {Algorithm::kDirect, "direct", SPARKGAP_ROUTES("direct")},
    {Algorithm::kFlags, "flags", SPARKGAP_ROUTES("flags")},
    {Algorithm::kChunked, "chunked", SPARKGAP_ROUTES("chunked")},
    {Algorithm::kDefault, "default", SPARKGAP_ROUTES("default")},
};
#undef SPARKGAP_ROUTES

// Above, fetching lines one after the other costs more than the wait for a flag that packets save.
constexpr uint64_t kMostPacketBytes = 512;

// allReduce: a PE reads pes - 1 times the message in one-shot and 2 * (pes - 1) / pes times in two-shot, which waits
// once more. The sizes where both took the same time, times pes - 2: measured with 4 PEs.
constexpr uint64_t kOneShotBytes = 16 * 1024;
constexpr uint64_t kOneShotBytesWhenSharing = 24 * 1024;

// From here on, a copy less is worth a step more, in which PEs show where their arrays lie: measured with symmetric
// arrays. With others that step is for nothing.
uint64_t direct_bytes(int32_t collective, const Circumstances& circumstances) {
  if (circumstances.oversubscribed) return 64 * 1024;
  return collective == SPARKGAP_ALL_REDUCE ? 256 * 1024 : 16 * 1024;
}

bool has_direct(int32_t collective) { return collective != SPARKGAP_BARRIER && collective != SPARKGAP_ALL_TO_ALLV; }

Algorithm select_all_reduce(uint64_t bytes, const Circumstances& circumstances) {
  // PEs that share cores wait for a switch anyway; then a flag costs nothing.
  if (bytes <= kMostPacketBytes && !circumstances.oversubscribed) return Algorithm::kPackets;
  // Two PEs read the same in both.
  if (circumstances.pes <= 2) return Algorithm::kOneShot;
  const uint64_t limit = circumstances.oversubscribed ? kOneShotBytesWhenSharing : kOneShotBytes;
  return bytes <= limit / static_cast<uint64_t>(circumstances.pes - 2) ? Algorithm::kOneShot : Algorithm::kTwoShot;
}

Algorithm select_on_host(int32_t collective, uint64_t bytes, const Circumstances& circumstances) {
  const bool direct = has_direct(collective) && bytes >= direct_bytes(collective, circumstances);
  return direct ? Algorithm::kDirect : select_for_any_memory(collective, bytes, circumstances);
}

// Packets send the message twice to each peer, two-shot about twice in all, but waits once more. Measured on two H200
// (bench/results/gpu-*.json).
constexpr uint64_t kGpuPacketBytes = 1 << 20;

Algorithm select_on_gpu(int32_t collective, uint64_t bytes, const Circumstances& circumstances) {
  if (circumstances.lanes == 0) return Algorithm::kDefault;
  const uint64_t peers = static_cast<uint64_t>(std::max(1, circumstances.pes - 1));
  switch (collective) {
    case SPARKGAP_ALL_REDUCE:
      return bytes <= kGpuPacketBytes / peers && can_carry(Algorithm::kPackets, bytes, circumstances)
                 ? Algorithm::kPackets
                 : Algorithm::kTwoShot;
    case SPARKGAP_REDUCE:
      return Algorithm::kTwoShot;
    case SPARKGAP_BARRIER:
      return Algorithm::kFlags;
    default:
      return Algorithm::kChunked;
  }
}

const char* host_algorithm_names(int32_t collective) {
  switch (collective) {
    case SPARKGAP_ALL_REDUCE:
      return "packets, one-shot, two-shot, direct";
    case SPARKGAP_BARRIER:
      return "flags";
    case SPARKGAP_ALL_TO_ALLV:
      return "staged";
    default:
      return "staged, direct";
  }
}

const char* nvshmem_algorithm_names(int32_t collective) {
  switch (collective) {
    case SPARKGAP_ALL_REDUCE:
      return "packets, two-shot";
    case SPARKGAP_REDUCE:
      return "two-shot";
    case SPARKGAP_BARRIER:
      return "flags";
    default:
      return "chunked";
  }
}

const char* nccl_algorithm_names(int32_t collective) {
  switch (collective) {
    case SPARKGAP_ALL_REDUCE:
      return "packets, two-shot, default";
    case SPARKGAP_REDUCE:
      return "two-shot, default";
    case SPARKGAP_BARRIER:
      return "flags, default";
    default:
      return "chunked, default";
  }
}

}  // namespace

Algorithm select_for_any_memory(int32_t collective, uint64_t bytes, const Circumstances& circumstances) {
  switch (collective) {
    case SPARKGAP_ALL_REDUCE:
      return select_all_reduce(bytes, circumstances);
    case SPARKGAP_BARRIER:
      return Algorithm::kFlags;
    default:
      return Algorithm::kStaged;
  }
}

Algorithm select(int32_t collective, uint64_t bytes, const Circumstances& circumstances) {
  return circumstances.provider == ProviderKind::kHost ? select_on_host(collective, bytes, circumstances)
                                                       : select_on_gpu(collective, bytes, circumstances);
}

bool can_carry(Algorithm algorithm, uint64_t bytes, const Circumstances& circumstances) {
  const bool on_host = circumstances.provider == ProviderKind::kHost;
  if (algorithm == Algorithm::kPackets) {
    const uint64_t lanes = static_cast<uint64_t>(circumstances.lanes);
    return bytes <= (on_host ? kMaxPacketDataBytes : lanes * kernels::kLanePacketBytes);
  }
  return on_host || algorithm == Algorithm::kDefault || circumstances.lanes > 0;
}

const char* algorithm_names(int32_t collective, ProviderKind provider) {
  switch (provider) {
    case ProviderKind::kNvshmem:
      return nvshmem_algorithm_names(collective);
    case ProviderKind::kNccl:
      return nccl_algorithm_names(collective);
    default:
      return host_algorithm_names(collective);
  }
}

bool find_algorithm(int32_t collective, const char* name, ProviderKind provider, Algorithm* algorithm) {
  if (std::strcmp(name, "auto") == 0) {
    *algorithm = Algorithm::kAuto;
    return true;
  }
  for (const Entry& entry : kEntries) {
    if (std::strcmp(name, entry.name) == 0 && std::strstr(algorithm_names(collective, provider), name) != nullptr) {
      *algorithm = entry.algorithm;
      return true;
    }
  }
  return false;
}

const char* route_name(ProviderKind provider, Algorithm algorithm) {
  for (const Entry& entry : kEntries) {
    if (entry.algorithm == algorithm) return entry.routes[static_cast<int32_t>(provider)];
  }
  return "";
}

}  // namespace sparkgap
