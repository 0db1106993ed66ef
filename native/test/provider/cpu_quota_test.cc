// What is read of the files in which Linux keeps a container's share of the CPUs, from a folder that has such files.
#include "provider/host/cpu_quota.h"

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/check.h"

namespace sparkgap::test {
namespace {

namespace fs = std::filesystem;

class Root {
 public:
  Root() {
    char name[] = "/tmp/sparkgap-cgroup-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Root() { fs::remove_all(path_); }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  Root& add(const std::string& file, const std::string& content) {
    fs::create_directories(fs::path(path_ + file).parent_path());
    std::ofstream(path_ + file) << content << '\n';
    return *this;
  }

  void expect_quota(int32_t expected) const {
    const int32_t found = cpu_quota(path_);
    expect(found == expected, "%d CPUs instead of %d", found, expected);
  }

 private:
  std::string path_;
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
       {"what_is_no_number_is_no_limit", what_is_no_number_is_no_limit}});
}
