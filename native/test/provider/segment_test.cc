// A segment by itself: its reservation while signals keep coming, on a kernel that lets them end it, and its size.
#include "provider/host/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "support/check.h"

namespace {

// What such a kernel reserves between two signals.
constexpr off_t kMostAtOnce = 100 << 10;

int interrupted_calls = 0;
off_t reserved_bytes = 0;

}  // namespace

// In place of the C library's.
extern "C" int fallocate(int, int, off_t offset, off_t bytes) {
  if (bytes > kMostAtOnce) {
    ++interrupted_calls;
    errno = EINTR;
    return -1;
  }
  if (offset != reserved_bytes) {
    errno = EINVAL;
    return -1;
  }
  reserved_bytes += bytes;
  return 0;
}

namespace sparkgap::test {
namespace {

void a_reservation_ends_although_signals_keep_coming() {
  constexpr uint64_t kBytes = 10 << 20;
  Segment segment = Segment::make("", kBytes);
  const int error = segment.reserve(0, kBytes);
  expect(error == 0, "%s", std::strerror(error));
  expect(interrupted_calls > 0, "nothing was interrupted; the test shows nothing");
  expect(reserved_bytes == static_cast<off_t>(kBytes), "%ld bytes are reserved", static_cast<long>(reserved_bytes));
}

void the_size_of_memory_in_no_file_system_cannot_be_changed() {
  constexpr uint64_t kBytes = 64 << 10;
  const Segment segment = Segment::make("", kBytes);
  const Segment opened = Segment::open("", getpid(), segment.fd(), kBytes);
  for (const off_t size : {off_t{0}, off_t{4096}, off_t{1 << 20}}) {
    expect(ftruncate(opened.fd(), size) != 0 && errno == EPERM, "its size has become %ld", static_cast<long>(size));
  }
  opened.base()[kBytes - 1] = 1;
  expect(segment.base()[kBytes - 1] == 1, "what one has written the other does not see");
}

void memory_whose_size_can_be_changed_is_refused() {
  constexpr uint64_t kBytes = 64 << 10;
  const int unsealed = memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  expect(unsealed >= 0 && ftruncate(unsealed, kBytes) == 0, "%s", std::strerror(errno));
  const Segment file = Segment::make("/dev/shm", kBytes);
  for (const int fd : {unsealed, file.fd()}) {
    try {
      Segment::open("", getpid(), fd, kBytes);
    } catch (const sparkgap::Failure& told) {
      expect(told.status == SPARKGAP_UNAVAILABLE && std::strstr(told.message, "sealed") != nullptr, "%s", told.message);
      continue;
    }
    expect(false, "descriptor %d was taken", fd);
  }
  close(unsealed);
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"a_reservation_ends_although_signals_keep_coming", a_reservation_ends_although_signals_keep_coming},
       {"the_size_of_memory_in_no_file_system_cannot_be_changed",
        the_size_of_memory_in_no_file_system_cannot_be_changed},
       {"memory_whose_size_can_be_changed_is_refused", memory_whose_size_can_be_changed_is_refused}});
}
