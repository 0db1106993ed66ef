#include "select.h"

#include <cstring>

namespace sparkgap {
namespace {

struct Entry {
  Algorithm algorithm;
  const char* name;
  const char* host_route;
};

constexpr Entry kEntries[] = {
    {Algorithm::kOneShot, "one-shot", "host/one-shot"},
    {Algorithm::kStaged, "staged", "host/staged"},
    {Algorithm::kFlags, "flags", "host/flags"},
};

}  // namespace

Algorithm select(int32_t collective, uint64_t, const Circumstances&) {
  switch (collective) {
    case SPARKGAP_ALL_REDUCE:
      return Algorithm::kOneShot;
    case SPARKGAP_BARRIER:
      return Algorithm::kFlags;
    default:
      return Algorithm::kStaged;
  }
}

const char* algorithm_name(Algorithm algorithm) {
  for (const Entry& entry : kEntries) {
    if (entry.algorithm == algorithm) return entry.name;
  }
  return "auto";
}

const char* algorithm_names(int32_t collective) {
  switch (collective) {
    case SPARKGAP_ALL_REDUCE:
      return "one-shot";
    case SPARKGAP_BARRIER:
      return "flags";
    default:
      return "staged";
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

const char* route_name(const char*, Algorithm algorithm) {
  for (const Entry& entry : kEntries) {
    if (entry.algorithm == algorithm) return entry.host_route;
  }
  return "";
}

}  // namespace sparkgap
