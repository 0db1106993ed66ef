#include "provider/host/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "protocol/layout.h"
#include "provider/host/mapping.h"
#include "provider/host/memory_limits.h"
#include "provider/host/shortage.h"

namespace sparkgap {
namespace {

// Its size stays as it is made: who could take memory away that others have mapped would end them by a signal.
constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

// Memory in no file system.
int open_memory() {
  int fd = memfd_create("sparkgap", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  // Kernels before 6.3 know no MFD_NOEXEC_SEAL; those after may insist on it.
  if (fd < 0 && errno == EINVAL) fd = memfd_create("sparkgap", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  // Of this user alone, as a file would be.
  if (fd >= 0) fchmod(fd, 0600);
  return fd;
}

// For file systems without O_TMPFILE: a random name that is gone again before anything is written.
int open_and_unlink(const std::string& directory) {
  uint64_t random[2];
  if (getrandom(random, sizeof random, 0) != sizeof random) return -1;
  char name[64];
  std::snprintf(name, sizeof name, "/.sparkgap-%016llx%016llx", static_cast<unsigned long long>(random[0]),
                static_cast<unsigned long long>(random[1]));
  const std::string path = directory + name;
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0) unlink(path.c_str());
  return fd;
}

int open_unnamed(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  return fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR) ? open_and_unlink(directory) : fd;
}

// After a failed open: whether it was for want of descriptors, which neither another folder nor another provider mends.
void refuse_without_descriptors(int error, const std::string& what) {
  if (error == EMFILE) {
    rlimit limit = {};
    getrlimit(RLIMIT_NOFILE, &limit);
    fail(SPARKGAP_UNAVAILABLE, kNoPe,
         "cannot open %s: this process has as many open files as it may, %llu. Raise that limit (ulimit -n) for the "
         "executors, or look for what leaves files open",
         what.c_str(), static_cast<unsigned long long>(limit.rlim_cur));
  }
  if (error == ENFILE) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe,
         "cannot open %s: the host has as many open files as it may (sysctl fs.file-max; "
         "ulimit -n limits each process)",
         what.c_str());
  }
}

}  // namespace

Segment::Segment(Segment&& other) noexcept { *this = std::move(other); }

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Segment::~Segment() {
  if (base_ != nullptr) unmap_file(base_, bytes_);
  close_descriptor();
}

Segment Segment::make(const std::string& directory, uint64_t bytes) {
  Segment segment;
  segment.bytes_ = bytes;
  segment.fd_ = directory.empty() ? open_memory() : open_unnamed(directory);
  if (segment.fd_ < 0) {
    const int error = errno;
    refuse_without_descriptors(error, "shared " + place(directory));
    if (directory.empty()) {
      fail(SPARKGAP_UNAVAILABLE, kNoPe,
           "the kernel makes no shared memory here (memfd_create): %s. spark.sparkgap.host.directory can name a tmpfs "
           "instead",
           std::strerror(error));
    }
    refuse_without_inodes(error, directory);
    fail(SPARKGAP_UNAVAILABLE, kNoPe,
         "cannot make shared memory in %s: %s. It must be a directory, normally a tmpfs, that this user may write to; "
         "spark.sparkgap.host.directory names it",
         directory.c_str(), std::strerror(error));
  }
  if (ftruncate(segment.fd_, static_cast<off_t>(bytes)) != 0) {
    fail(SPARKGAP_OUT_OF_MEMORY, kNoPe, "cannot make a segment of %llu bytes in %s: %s",
         static_cast<unsigned long long>(bytes), place(directory).c_str(), std::strerror(errno));
  }
  if (directory.empty() && fcntl(segment.fd_, F_ADD_SEALS, kSizeSeals) != 0) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe, "the kernel does not seal the size of memory: %s", std::strerror(errno));
  }
  segment.map(place(directory));
  return segment;
}

Segment Segment::open(const std::string& directory, pid_t pid, int fd, uint64_t bytes) {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
  Segment segment;
  segment.bytes_ = bytes;
  segment.fd_ = ::open(path, O_RDWR | O_CLOEXEC);
  if (segment.fd_ < 0) {
    const int error = errno;
    refuse_without_descriptors(error, std::string("the shared memory of another process, ") + path);
    fail(SPARKGAP_UNAVAILABLE, kNoPe, "cannot open the shared memory of process %d (%s): %s. %s", pid, path,
         std::strerror(error),
         error == EACCES || error == EPERM
             ? "PEs of one host must run as the same user, in the same user namespace"
             : "Its process has ended or has closed the world, all of its PEs are connected, or /proc hides it (mount "
               "option hidepid)");
  }
  // Whoever made it may be broken or hostile, and what is not sealed could be gone at any moment.
  const int seals = fcntl(segment.fd_, F_GET_SEALS);
  if (directory.empty() && (seals < 0 || (seals & kSizeSeals) != kSizeSeals)) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe,
         "%s is not memory of a sealed size: all PEs of a host must have the same spark.sparkgap.host.directory", path);
  }
  struct stat status;
  if (fstat(segment.fd_, &status) != 0 || !S_ISREG(status.st_mode) || static_cast<uint64_t>(status.st_size) != bytes) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe, "%s is not the %llu bytes of shared memory that were announced: a stale world id",
         path, static_cast<unsigned long long>(bytes));
  }
  segment.map(path);
  return segment;
}

void Segment::map(const std::string& where) {
  base_ = map_file(fd_, bytes_);
  if (base_ == nullptr) {
    const int error = errno;
    refuse_without_mappings(error, bytes_, where);
    fail(SPARKGAP_OUT_OF_MEMORY, kNoPe, "cannot map %llu bytes of %s: %s", static_cast<unsigned long long>(bytes_),
         where.c_str(), std::strerror(error));
  }
  // Only where the administrator allows it for shared memory; elsewhere this does nothing.
  madvise(base_, bytes_, MADV_HUGEPAGE);
}

int Segment::reserve(uint64_t offset, uint64_t bytes) {
  // A signal ends a call, and what it had reserved is given back. Where signals come faster than that much can be
  // reserved, as from a profiler's timer, the same call would never succeed: less at once does.
  uint64_t piece = bytes;
  for (uint64_t done = 0; done < bytes;) {
    piece = std::min(piece, bytes - done);
    if (fallocate(fd_, 0, static_cast<off_t>(offset + done), static_cast<off_t>(piece)) == 0) {
      done += piece;
    } else if (errno == EINTR) {
      piece = std::max(piece / 2 / kPageBytes * kPageBytes, kPageBytes);
    } else {
      return errno;
    }
  }
  return 0;
}

void Segment::close_descriptor() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

uint64_t free_bytes(const std::string& directory) {
  if (directory.empty()) return free_memory();
  struct statvfs status;
  // A tmpfs without a limit says that it has no blocks.
  if (statvfs(directory.c_str(), &status) != 0 || status.f_blocks == 0) return kUnlimitedBytes;
  return static_cast<uint64_t>(status.f_bavail) * status.f_frsize;
}

std::string place(const std::string& directory) { return directory.empty() ? "memory" : "memory in " + directory; }

void describe_shortage(Text& text, const std::string& directory, uint64_t needed, uint64_t free) {
  const auto needed_bytes = static_cast<unsigned long long>(needed);
  const auto free_bytes = static_cast<unsigned long long>(free);
  if (directory.empty()) {
    text.add(
        "needs %llu bytes of memory (all PEs of the host together), where %llu are free on the host and in this "
        "container. Leave it more: spark.executor.memoryOverhead, a container's memory limit, or smaller Java heaps",
        needed_bytes, free_bytes);
    return;
  }
  text.add(
      "needs %llu bytes (all PEs of the host together) in %s, where %llu are free. Enlarge it (mount -o "
      "remount,size=..., Docker: --shm-size, Kubernetes: an emptyDir with medium Memory), or name another tmpfs by "
      "spark.sparkgap.host.directory, or none",
      needed_bytes, directory.c_str(), free_bytes);
}

}  // namespace sparkgap
