// How much of the host's CPUs a container may use, which the scheduler's affinity does not show.
#ifndef SPARKGAP_PROVIDER_HOST_CPU_QUOTA_H
#define SPARKGAP_PROVIDER_HOST_CPU_QUOTA_H

#include <cstdint>
#include <string>

namespace sparkgap {

// As many CPUs as the control groups of this process give it the time of, rounded up; INT32_MAX where they set no
// limit. `root` stands before /proc and /sys: empty but in tests.
int32_t cpu_quota(const std::string& root);

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_HOST_CPU_QUOTA_H
