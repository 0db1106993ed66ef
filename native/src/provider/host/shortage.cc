#include "provider/host/shortage.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstring>

#include "base/error.h"

namespace sparkgap {
namespace {

// The first line of a small file as a number, or the number of its lines; -1 if it cannot be read. Allocates nothing,
// for there may be nothing to have.
long long number_in(const char* path, bool lines) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  long long number = 0;
  char text[4096];
  for (ssize_t length; (length = read(fd, text, sizeof text)) > 0;) {
    for (ssize_t i = 0; i < length; ++i) {
      if (lines) {
        number += text[i] == '\n';
      } else if (text[i] >= '0' && text[i] <= '9') {
        number = number * 10 + (text[i] - '0');
      }
    }
  }
  close(fd);
  return number;
}

}  // namespace

void refuse_without_inodes(int error, const std::string& directory) {
  if (error != ENOSPC && error != EDQUOT) return;
  struct statvfs status = {};
  statvfs(directory.c_str(), &status);
  fail(SPARKGAP_OUT_OF_MEMORY, kNoPe,
       "cannot make shared memory in %s: %s. It may hold %llu files, and %llu more are free. Remove what nobody needs "
       "there, allow more (mount -o remount,nr_inodes=...), or name another tmpfs by spark.sparkgap.host.directory",
       directory.c_str(), std::strerror(error), static_cast<unsigned long long>(status.f_files),
       static_cast<unsigned long long>(status.f_favail));
}

void refuse_without_mappings(int error, uint64_t bytes, const std::string& where) {
  if (error != ENOMEM) return;
  const long long most = number_in("/proc/sys/vm/max_map_count", false);
  const long long mapped = number_in("/proc/self/maps", true);
  // The kernel counts a few less or more than it lists.
  if (most < 0 || mapped < most - 16) return;
  fail(SPARKGAP_OUT_OF_MEMORY, kNoPe,
       "cannot map %llu bytes of %s: this process has %lld mappings of memory, and may have %lld (vm.max_map_count). "
       "Each symmetric buffer is one: close those that are not needed, or raise that limit on the host (sysctl -w "
       "vm.max_map_count=...)",
       static_cast<unsigned long long>(bytes), where.c_str(), mapped, most);
}

}  // namespace sparkgap
