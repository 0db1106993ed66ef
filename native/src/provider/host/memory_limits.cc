#include "provider/host/memory_limits.h"

#include <algorithm>
#include <fstream>
#include <initializer_list>

#include "provider/host/control_groups.h"

namespace sparkgap {
namespace {

// kUnlimitedBytes if there is no number in the file, which may say "max".
uint64_t number_in(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? number : kUnlimitedBytes;
}

// Of a file of lines "name number": the sum of those that are named.
uint64_t sum_in(const std::string& path, std::initializer_list<const char*> names) {
  std::ifstream file(path);
  std::string name;
  uint64_t sum = 0;
  for (uint64_t number = 0; file >> name >> number;) {
    if (std::find(names.begin(), names.end(), name) != names.end()) sum += number;
  }
  return sum;
}

uint64_t free_in(uint64_t limit, uint64_t used, uint64_t reclaimable) {
  if (limit == kUnlimitedBytes || used == kUnlimitedBytes) return kUnlimitedBytes;
  const uint64_t kept = used - std::min(used, reclaimable);
  return limit - std::min(limit, kept);
}

uint64_t free_on_host(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("MemAvailable:", 0) == 0) return std::stoull(line.substr(line.find(':') + 1)) * 1024;
  }
  return kUnlimitedBytes;
}

}  // namespace

uint64_t free_memory(const std::string& root) {
  uint64_t free = free_on_host(root);
  for_each_control_group(root, "memory", [&free](const std::string& group, int version) {
    const std::string statistics = group + "/memory.stat";
    const uint64_t of_group =
        version == 2 ? free_in(number_in(group + "/memory.max"), number_in(group + "/memory.current"),
                               sum_in(statistics, {"inactive_file", "active_file", "slab_reclaimable"}))
                     : free_in(number_in(group + "/memory.limit_in_bytes"), number_in(group + "/memory.usage_in_bytes"),
                               sum_in(statistics, {"total_inactive_file", "total_active_file"}));
    free = std::min(free, of_group);
  });
  return free;
}

}  // namespace sparkgap
