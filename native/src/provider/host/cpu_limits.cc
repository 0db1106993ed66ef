#include "provider/host/cpu_limits.h"

#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

namespace sparkgap {
namespace {

constexpr int32_t kNoLimit = INT32_MAX;

struct Quota {
  int32_t cpus = kNoLimit;
  std::string folder;  // of the group that sets it
};

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
void take_least(Quota* least, const std::string& top, std::string path, int32_t (*limit)(const std::string&)) {
  for (;;) {
    const int32_t found = limit(top + path);
    if (found < least->cpus) *least = {found, top + path};
    if (path.empty()) return;
    const size_t parent = path.rfind('/');
    path.resize(parent == std::string::npos ? 0 : parent);
  }
}

Quota least_quota(const std::string& root) {
  const std::string mount = root + "/sys/fs/cgroup";
  Quota least;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // "number:controllers:path"; version 2 names no controllers.
    const size_t controllers = line.find(':') + 1;
    const size_t end = line.find(':', controllers);
    if (controllers == 0 || end == std::string::npos) continue;
    const std::string names = "," + line.substr(controllers, end - controllers) + ",";
    const std::string path = line.substr(end + 1);
    if (names == ",,") {
      take_least(&least, mount, path, limit_of_version_2);
    } else if (names.find(",cpu,") != std::string::npos) {
      take_least(&least, mount + "/cpu", path, limit_of_version_1);
    }
  }
  return least;
}

uint64_t allowed_cpus(const CpuLimits& limits) {
  uint64_t cpus = 0;
  for (const uint64_t bits : limits.allowed) cpus += static_cast<uint64_t>(__builtin_popcountll(bits));
  return cpus;
}

}  // namespace

CpuLimits cpu_limits(const std::string& root) {
  CpuLimits limits = {};
  cpu_set_t set;
  static_assert(CPU_SETSIZE == kMostCpus, "every CPU of a set has its bit");
  // Only on a machine with more CPUs than a set has bits it cannot be had; then none is said to be allowed.
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (uint64_t cpu = 0; cpu < kMostCpus; ++cpu) {
      if (CPU_ISSET(cpu, &set)) limits.allowed[cpu / 64] |= uint64_t{1} << (cpu % 64);
    }
  }
  const Quota quota = least_quota(root);
  struct stat folder;
  limits.quota = quota.cpus;
  if (quota.cpus != kNoLimit && stat(quota.folder.c_str(), &folder) == 0) limits.quota_group = folder.st_ino;
  return limits;
}

bool share_cpus(const std::vector<CpuLimits>& limits) {
  CpuLimits together = {};
  bool all_known = true;
  for (const CpuLimits& one : limits) {
    all_known &= allowed_cpus(one) > 0;
    for (uint64_t word = 0; word < kMostCpus / 64; ++word) together.allowed[word] |= one.allowed[word];
    const auto is_with_it = [&](const CpuLimits& other) { return other.quota_group == one.quota_group; };
    if (std::count_if(limits.begin(), limits.end(), is_with_it) > one.quota) return true;
  }
  return all_known && limits.size() > allowed_cpus(together);
}

}  // namespace sparkgap
