#include "select.h"

#include <cstring>

#include "protocol/layout.h"

namespace sparkgap {
namespace {

struct Entry {
  Algorithm algorithm;
  const char* name;
  const char* host_route;
};

constexpr Entry kEntries[] = {
    {Algorithm::kPackets, "packets", "host/packets"},   {Algorithm::kOneShot, "one-shot", "host/one-shot"},
    {Algorithm::kTwoShot, "two-shot", "host/two-shot"}, {Algorithm::kStaged, "staged", "host/staged"},
    {Algorithm::kDirect, "direct", "host/direct"},      {Algorithm::kFlags, "flags", "host/flags"},
};

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

}  // namespace

Algorithm select(int32_t collective, uint64_t bytes, const Circumstances& circumstances) {
  const bool direct = has_direct(collective) && bytes >= direct_bytes(collective, circumstances);
  return direct ? Algorithm::kDirect : select_for_any_memory(collective, bytes, circumstances);
}

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

bool can_carry(Algorithm algorithm, uint64_t bytes) {
  return algorithm != Algorithm::kPackets || bytes <= kMaxPacketDataBytes;
}

const char* algorithm_names(int32_t collective) {
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

bool find_algorithm(int32_t collective, const char* name, Algorithm* algorithm) {
  if (std::strcmp(name, "auto") == 0) {
    *algorithm = Algorithm::kAuto;
    return true;
  }
  for (const Entry& entry : kEntries) {
    if (std::strcmp(name, entry.name) == 0 && std::strstr(algorithm_names(collective), name) != nullptr) {
      *algorithm = entry.algorithm;
      return true;
    }
  }
  return false;
}

const char* host_route_name(Algorithm algorithm) {
  for (const Entry& entry : kEntries) {
    if (entry.algorithm == algorithm) return entry.host_route;
  }
  return "";
}

}  // namespace sparkgap
