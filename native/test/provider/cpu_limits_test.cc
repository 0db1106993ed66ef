// What is read of the files in which Linux keeps a container's share of the CPUs, from a folder that has such files,
// and what follows for PEs.
#include "provider/host/cpu_limits.h"

#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <string>

#include "support/check.h"
#include "support/temporary_folder.h"

namespace sparkgap::test {
namespace {

class Root {
 public:
  Root& add(const std::string& file, const std::string& content) {
    std::ofstream(folder_.place(file.substr(1))) << content << '\n';
    return *this;
  }

  std::string path() const { return folder_.path().string(); }

  void expect_quota(int32_t expected) const {
    const int32_t found = cpu_limits(path()).quota;
    expect(found == expected, "%d CPUs instead of %d", found, expected);
  }

 private:
  TemporaryFolder folder_;
};

void where_nothing_is_limited_there_is_no_limit() {
  Root().expect_quota(INT32_MAX);
  Root().add("/proc/self/cgroup", "0::/a").add("/sys/fs/cgroup/a/cpu.max", "max 100000").expect_quota(INT32_MAX);
  Root()
      .add("/proc/self/cgroup", "3:cpu,cpuacct:/a")
      .add("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1")
      .add("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000")
      .expect_quota(INT32_MAX);
}

void the_quota_is_rounded_up_to_cpus() {
  Root().add("/proc/self/cgroup", "0::/").add("/sys/fs/cgroup/cpu.max", "200000 100000").expect_quota(2);
  Root().add("/proc/self/cgroup", "0::/").add("/sys/fs/cgroup/cpu.max", "250000 100000").expect_quota(3);
  Root().add("/proc/self/cgroup", "0::/").add("/sys/fs/cgroup/cpu.max", "5000 100000").expect_quota(1);
}

void an_outer_group_limits_the_inner_ones() {
  Root()
      .add("/proc/self/cgroup", "0::/pod/container")
      .add("/sys/fs/cgroup/pod/cpu.max", "400000 100000")
      .add("/sys/fs/cgroup/pod/container/cpu.max", "max 100000")
      .expect_quota(4);
}

void version_1_is_read_from_the_folder_of_its_controller() {
  Root()
      .add("/proc/self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/docker/12ab\n0::/")
      .add("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000")
      .add("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000")
      .expect_quota(3);
}

void what_is_no_number_is_no_limit() {
  Root().add("/proc/self/cgroup", "nonsense\n0::/").add("/sys/fs/cgroup/cpu.max", "").expect_quota(INT32_MAX);
}

CpuLimits on_cpus(std::initializer_list<int> cpus, int32_t quota = INT32_MAX, uint64_t group = 0) {
  CpuLimits limits = {};
  for (const int cpu : cpus) limits.allowed[cpu / 64] |= uint64_t{1} << (cpu % 64);
  limits.quota = quota;
  limits.quota_group = group;
  return limits;
}

void the_group_that_limits_is_told_from_others() {
  const auto limited = [](const Root& root) { return cpu_limits(root.path()); };
  Root one;
  one.add("/proc/self/cgroup", "0::/").add("/sys/fs/cgroup/cpu.max", "100000 100000");
  Root other;
  other.add("/proc/self/cgroup", "0::/").add("/sys/fs/cgroup/cpu.max", "100000 100000");
  expect(limited(one).quota_group == limited(one).quota_group, "one group is two");
  expect(limited(one).quota_group != limited(other).quota_group, "two groups are one");
}

void pes_share_cpus_where_they_are_more_than_all_of_them() {
  expect(!share_cpus({on_cpus({0, 1}), on_cpus({0, 1})}), "two PEs on two CPUs");
  expect(share_cpus({on_cpus({0, 1}), on_cpus({0, 1}), on_cpus({0, 1})}), "three PEs on two CPUs");
  expect(share_cpus({on_cpus({5}), on_cpus({5})}), "two PEs on one CPU");
}

void pes_that_are_bound_to_cpus_of_their_own_share_none() {
  expect(!share_cpus({on_cpus({0}), on_cpus({1}), on_cpus({70})}), "a CPU for each of three PEs");
}

void pes_share_the_quota_of_their_own_container_only() {
  expect(!share_cpus({on_cpus({0, 1}, 1, 7), on_cpus({0, 1}, 1, 8)}), "two containers of a CPU each");
  expect(share_cpus({on_cpus({0, 1}, 1, 7), on_cpus({0, 1}, 1, 7)}), "two PEs in a container of one CPU");
  expect(!share_cpus({on_cpus({0, 1}, 2, 7), on_cpus({0, 1}, 2, 7)}), "two PEs in a container of two CPUs");
}

void cpus_that_are_not_known_are_enough() { expect(!share_cpus({on_cpus({}), on_cpus({})}), "no CPU is known"); }

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"where_nothing_is_limited_there_is_no_limit", where_nothing_is_limited_there_is_no_limit},
       {"the_quota_is_rounded_up_to_cpus", the_quota_is_rounded_up_to_cpus},
       {"an_outer_group_limits_the_inner_ones", an_outer_group_limits_the_inner_ones},
       {"version_1_is_read_from_the_folder_of_its_controller", version_1_is_read_from_the_folder_of_its_controller},
       {"what_is_no_number_is_no_limit", what_is_no_number_is_no_limit},
       {"the_group_that_limits_is_told_from_others", the_group_that_limits_is_told_from_others},
       {"pes_share_cpus_where_they_are_more_than_all_of_them", pes_share_cpus_where_they_are_more_than_all_of_them},
       {"pes_that_are_bound_to_cpus_of_their_own_share_none", pes_that_are_bound_to_cpus_of_their_own_share_none},
       {"pes_share_the_quota_of_their_own_container_only", pes_share_the_quota_of_their_own_container_only},
       {"cpus_that_are_not_known_are_enough", cpus_that_are_not_known_are_enough}});
}
