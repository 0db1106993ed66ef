// Symmetric memory of the host provider: a segment of its own for each allocation.
//
//   | part of PE 0 | part of PE 1 | ... |     each part rounded up to whole pages
//
// PE 0 makes the segment; each PE maps all of it and reserves its own part, in parallel. They then tell each other how
// that went: if one has failed, all let go and fail alike, and the world goes on.
#ifndef SPARKGAP_PROVIDER_HOST_HOST_MEMORY_H
#define SPARKGAP_PROVIDER_HOST_HOST_MEMORY_H

#include <sys/types.h>

#include <memory>

#include "protocol/control.h"
#include "protocol/steps.h"
#include "provider/provider.h"

namespace sparkgap {

std::unique_ptr<SymmetricMemory> allocate_host_memory(const WorldOptions& options, const Control& control,
                                                      pid_t process_of_pe_0, uint64_t bytes, Steps& steps);

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_HOST_HOST_MEMORY_H
