// The control groups that this process is in: where a container's limits stand.
#ifndef SPARKGAP_PROVIDER_HOST_CONTROL_GROUPS_H
#define SPARKGAP_PROVIDER_HOST_CONTROL_GROUPS_H

#include <functional>
#include <string>

namespace sparkgap {

// Calls look(folder, version) for the group of this process that `controller` ("cpu", "memory") counts in, and for all
// those around it; version 1 or 2. A container may not see the outer ones, and may have its own group at the top
// although its path says otherwise, so that folders may be missing. `root` stands before /proc and /sys: empty but in
// tests.
void for_each_control_group(const std::string& root, const std::string& controller,
                            const std::function<void(const std::string& folder, int version)>& look);

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_HOST_CONTROL_GROUPS_H
