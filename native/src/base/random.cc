#include "base/random.h"

#include <sys/random.h>
#include <sys/types.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace sparkgap {

void fill_randomly(void* to, size_t bytes) {
  if (getrandom(to, bytes, 0) != static_cast<ssize_t>(bytes)) {
    fail(SPARKGAP_INTERNAL, kNoPe, "the kernel gave no random numbers: %s", std::strerror(errno));
  }
}

}  // namespace sparkgap
