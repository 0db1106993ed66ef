#include "provider/host/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace sparkgap {
namespace {

// Reads what fits of a small file of /proc; "" if it cannot be read, and errno says why.
std::string read_proc_file(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  char content[1024];
  const ssize_t length = read(fd, content, sizeof content);
  const int error = errno;
  close(fd);
  errno = error;
  return length > 0 ? std::string(content, static_cast<size_t>(length)) : "";
}

std::string stat_of(pid_t pid) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  return read_proc_file(path);
}

// 0 for a process that is dead and only waits to be reaped.
uint64_t start_time_in(const std::string& stat) {
  // "pid (name) state ppid ...": the name may hold anything, so fields are counted from the last ')'. The state is the
  // 3rd field and the start time the 22nd.
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= stat.size()) return 0;
  const char* field = stat.c_str() + name_end + 2;
  if (*field == 'Z' || *field == 'X') return 0;
  for (int number = 3; number < 22; ++number) {
    field = std::strchr(field, ' ');
    if (field == nullptr) return 0;
    ++field;
  }
  return std::strtoull(field, nullptr, 10);
}

int64_t read_clock_ns(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return static_cast<int64_t>(time.tv_sec) * 1000000000 + time.tv_nsec;
}

}  // namespace

std::string boot_id() {
  std::string id = read_proc_file("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = "";
  return gethostname(name, sizeof name) == 0 ? name : "unknown host";
}

int64_t kernel_start_ns() {
  constexpr int kReads = 16;
  int64_t start = 0;
  int64_t least_between = INT64_MAX;
  for (int i = 0; i < kReads; ++i) {
    const int64_t before = read_clock_ns(CLOCK_BOOTTIME);
    const int64_t now = read_clock_ns(CLOCK_REALTIME);
    const int64_t between = read_clock_ns(CLOCK_BOOTTIME) - before;
    if (between >= least_between) continue;
    least_between = between;
    start = now - before - between / 2;
  }
  return start;
}

uint64_t pid_namespace() {
  struct stat status;
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

uint64_t process_start_time(pid_t pid) { return start_time_in(stat_of(pid)); }

bool process_is_gone(pid_t pid, uint64_t start_time) {
  const std::string stat = stat_of(pid);
  if (!stat.empty()) return start_time_in(stat) != start_time;
  const bool is_not_there = errno == ENOENT || errno == ESRCH;
  // By name, for which no descriptor is needed.
  return is_not_there && access("/proc/self/stat", F_OK) == 0;
}

}  // namespace sparkgap
