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

// What fits of a small file of /proc. Nothing is allocated: waits look at their peers' processes.
class ProcFile {
 public:
  // Empty if it cannot be read, and errno says why.
  explicit ProcFile(const char* path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    const ssize_t length = read(fd, content_, sizeof content_ - 1);
    const int error = errno;
    close(fd);
    errno = error;
    length_ = length > 0 ? static_cast<size_t>(length) : 0;
  }

  bool empty() const { return length_ == 0; }
  // Ends with a zero.
  const char* text() const { return content_; }

 private:
  char content_[1024] = "";
  size_t length_ = 0;
};

ProcFile stat_of(pid_t pid) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  return ProcFile(path);
}

// 0 for a process that is dead and only waits to be reaped.
uint64_t start_time_in(const ProcFile& stat) {
  // "pid (name) state ppid ...": the name may hold anything, so fields are counted from the last ')'. The state is the
  // 3rd field and the start time the 22nd.
  const char* field = std::strrchr(stat.text(), ')');
  if (field == nullptr || field[1] == '\0') return 0;
  field += 2;
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
  std::string id = ProcFile("/proc/sys/kernel/random/boot_id").text();
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
  const ProcFile stat = stat_of(pid);
  if (!stat.empty()) return start_time_in(stat) != start_time;
  const bool is_not_there = errno == ENOENT || errno == ESRCH;
  // By name, for which no descriptor is needed.
  return is_not_there && access("/proc/self/stat", F_OK) == 0;
}

}  // namespace sparkgap
