// What is read of the files in which Linux says how much memory there is, from a folder that has such files.
#include "provider/host/memory_limits.h"

#include <fstream>
#include <string>

#include "support/check.h"
#include "support/temporary_folder.h"

namespace sparkgap::test {
namespace {

constexpr uint64_t kMiB = 1 << 20;

class Root {
 public:
  Root& add(const std::string& file, const std::string& content) {
    std::ofstream(folder_.place(file.substr(1))) << content << '\n';
    return *this;
  }

  void expect_free(uint64_t expected) const {
    const uint64_t found = free_memory(folder_.path().string());
    expect(found == expected, "%lu bytes instead of %lu", found, expected);
  }

 private:
  TemporaryFolder folder_;
};

std::string mib(uint64_t number) { return std::to_string(number * kMiB); }

void where_nothing_is_said_there_is_no_limit() { Root().expect_free(kUnlimitedBytes); }

void without_a_limit_it_is_what_the_host_has() {
  Root()
      .add("/proc/meminfo", "MemTotal:  9999999 kB\nMemFree:  1 kB\nMemAvailable:  2048 kB\nBuffers: 7 kB")
      .add("/proc/self/cgroup", "0::/a")
      .add("/sys/fs/cgroup/a/memory.max", "max")
      .add("/sys/fs/cgroup/a/memory.current", mib(900))
      .expect_free(2 * kMiB);
}

void a_container_has_its_limit_less_what_it_uses_but_for_cached_files() {
  Root()
      .add("/proc/meminfo", "MemAvailable:  8388608 kB")
      .add("/proc/self/cgroup", "0::/pod/container")
      .add("/sys/fs/cgroup/pod/container/memory.max", mib(1000))
      .add("/sys/fs/cgroup/pod/container/memory.current", mib(700))
      .add("/sys/fs/cgroup/pod/container/memory.stat",
           "anon 5\nfile 900\ninactive_file " + mib(100) + "\nactive_file " + mib(50) + "\nshmem 44")
      .expect_free(450 * kMiB);
}

void an_outer_group_limits_the_inner_ones() {
  Root()
      .add("/proc/self/cgroup", "0::/pod/container")
      .add("/sys/fs/cgroup/pod/memory.max", mib(100))
      .add("/sys/fs/cgroup/pod/memory.current", mib(90))
      .add("/sys/fs/cgroup/pod/container/memory.max", mib(1000))
      .add("/sys/fs/cgroup/pod/container/memory.current", mib(1))
      .expect_free(10 * kMiB);
}

void a_container_over_its_limit_has_nothing() {
  Root()
      .add("/proc/self/cgroup", "0::/")
      .add("/sys/fs/cgroup/memory.max", mib(100))
      .add("/sys/fs/cgroup/memory.current", mib(101))
      .expect_free(0);
}

void version_1_is_read_from_the_folder_of_its_controller() {
  Root()
      .add("/proc/self/cgroup", "5:memory:/docker/12ab\n4:cpu,cpuacct:/x\n0::/")
      .add("/sys/fs/cgroup/memory/docker/12ab/memory.limit_in_bytes", mib(300))
      .add("/sys/fs/cgroup/memory/docker/12ab/memory.usage_in_bytes", mib(200))
      .add("/sys/fs/cgroup/memory/docker/12ab/memory.stat", "cache 7\ntotal_inactive_file " + mib(20))
      .add("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712")
      .add("/sys/fs/cgroup/memory/memory.usage_in_bytes", mib(5000))
      .expect_free(120 * kMiB);
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"where_nothing_is_said_there_is_no_limit", where_nothing_is_said_there_is_no_limit},
       {"without_a_limit_it_is_what_the_host_has", without_a_limit_it_is_what_the_host_has},
       {"a_container_has_its_limit_less_what_it_uses_but_for_cached_files",
        a_container_has_its_limit_less_what_it_uses_but_for_cached_files},
       {"an_outer_group_limits_the_inner_ones", an_outer_group_limits_the_inner_ones},
       {"a_container_over_its_limit_has_nothing", a_container_over_its_limit_has_nothing},
       {"version_1_is_read_from_the_folder_of_its_controller", version_1_is_read_from_the_folder_of_its_controller}});
}
