#include "provider/host/cpu_limits.h"

#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "provider/host/control_groups.h"

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

Quota least_quota(const std::string& root) {
  Quota least;
  for_each_control_group(root, "cpu", [&least](const std::string& group, int version) {
    const int32_t found = version == 2 ? limit_of_version_2(group) : limit_of_version_1(group);
    if (found < least.cpus) least = {found, group};
  });
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
