// Symmetric memory of the host provider: a segment of its own for each allocation.
//
//   | part of PE 0 | part of PE 1 | ... |     each part rounded up to whole pages
//
// PE 0 makes the segment; each PE maps all of it and reserves its own part, in parallel. They then tell each other how
// that went: if one has failed, all let go and fail alike, and the world goes on.
#ifndef SPARKGAP_PROVIDER_HOST_HOST_MEMORY_H
#define SPARKGAP_PROVIDER_HOST_HOST_MEMORY_H

#include <memory>

#include "protocol/node.h"
#include "provider/provider.h"

namespace sparkgap {

// Collective in the node, `bytes` > 0. All PEs throw the same status, or none does.
std::unique_ptr<SymmetricMemory> allocate_host_memory(const WorldOptions& options, Node& node, uint64_t bytes);

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_HOST_HOST_MEMORY_H
