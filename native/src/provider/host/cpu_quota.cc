#include "provider/host/cpu_quota.h"

#include <algorithm>
#include <fstream>

namespace sparkgap {
namespace {

constexpr int32_t kNoLimit = INT32_MAX;

// Both in microseconds; -1, or what is no number, is no limit.
int32_t cpus(std::istream& quota, std::istream& period) {
  int64_t used = 0;
  int64_t of = 0;
  if (!(quota >> used) || !(period >> of) || used <= 0 || of <= 0) return kNoLimit;
  return static_cast<int32_t>(std::min<int64_t>((used + of - 1) / of, kNoLimit));
}

int32_t limit_of_version_2(const std::string& group) {
  std::ifstream both(group + "/cpu.max");  // "200000 100000", or "max 100000"
  return cpus(both, both);
}

int32_t limit_of_version_1(const std::string& group) {
  std::ifstream quota(group + "/cpu.cfs_quota_us");
  std::ifstream period(group + "/cpu.cfs_period_us");
  return cpus(quota, period);
}

// The least of a group and of all those around it. A container may not see the outer ones, and may have its own group
// at the top although its path says otherwise.
int32_t least_limit(const std::string& top, std::string path, int32_t (*limit)(const std::string&)) {
  int32_t least = limit(top);
  while (!path.empty()) {
    least = std::min(least, limit(top + path));
    const size_t parent = path.rfind('/');
    path.resize(parent == std::string::npos ? 0 : parent);
  }
  return least;
}

}  // namespace

int32_t cpu_quota(const std::string& root) {
  const std::string mount = root + "/sys/fs/cgroup";
  int32_t least = kNoLimit;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // "number:controllers:path"; version 2 names no controllers.
    const size_t controllers = line.find(':') + 1;
    const size_t end = line.find(':', controllers);
    if (controllers == 0 || end == std::string::npos) continue;
    const std::string names = "," + line.substr(controllers, end - controllers) + ",";
    const std::string path = line.substr(end + 1);
    if (names == ",,") {
      least = std::min(least, least_limit(mount, path, limit_of_version_2));
    } else if (names.find(",cpu,") != std::string::npos) {
      least = std::min(least, least_limit(mount + "/cpu", path, limit_of_version_1));
    }
  }
  return least;
}

}  // namespace sparkgap
