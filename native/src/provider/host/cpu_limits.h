// Which CPUs the PEs of a world may run on: as many as the scheduler allows each process, in whose container there may
// be time for fewer.
#ifndef SPARKGAP_PROVIDER_HOST_CPU_LIMITS_H
#define SPARKGAP_PROVIDER_HOST_CPU_LIMITS_H

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/layout.h"

namespace sparkgap {

// Of this process, now. `root` stands before /proc and /sys: empty but in tests.
CpuLimits cpu_limits(const std::string& root = "");

// Whether PEs with these limits, one for each PE, are more than there are CPUs for: altogether, or in one container.
bool share_cpus(const std::vector<CpuLimits>& limits);

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_HOST_CPU_LIMITS_H
