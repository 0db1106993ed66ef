// Memory that is reserved while signals keep coming, on a kernel that lets them end a reservation.
#include "provider/host/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

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
  Segment segment = Segment::make("/dev/shm", kBytes);
  const int error = segment.reserve(0, kBytes);
  expect(error == 0, "%s", std::strerror(error));
  expect(interrupted_calls > 0, "nothing was interrupted; the test shows nothing");
  expect(reserved_bytes == static_cast<off_t>(kBytes), "%ld bytes are reserved", static_cast<long>(reserved_bytes));
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"a_reservation_ends_although_signals_keep_coming", a_reservation_ends_although_signals_keep_coming}});
}
