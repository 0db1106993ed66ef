// What the user says of a world's topology, where it is to be believed more than what was found
// (spark.sparkgap.topology.hints).
#ifndef SPARKGAP_WORLD_HINTS_H
#define SPARKGAP_WORLD_HINTS_H

#include <cstdint>

#include "select/select.h"

namespace sparkgap {

struct Hints {
  int32_t link = -1;      // SPARKGAP_LINK_... of the slowest; -1: not said
  int32_t shared = -1;    // 1: several PEs have one CPU or GPU; 0: each has its own; -1: not said
  double latency_us = 0;  // of that link; 0: not said
  double gb_per_s = 0;
  uint64_t digest = 0;  // of all of it; 0 if nothing is said

  void apply(Circumstances* circumstances) const;
};

// From "links=pcie,latency=4,bandwidth=20,shared=false". Throws INVALID_ARGUMENT with what would be allowed in a world
// of that provider.
Hints parse_hints(const char* text, ProviderKind provider, bool on_several_nodes);

}  // namespace sparkgap

#endif  // SPARKGAP_WORLD_HINTS_H
