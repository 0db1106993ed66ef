// The two futex calls that a wait needs, on a word in memory that several processes share.
#ifndef SPARKGAP_PROTOCOL_FUTEX_H
#define SPARKGAP_PROTOCOL_FUTEX_H

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <cstdint>

namespace sparkgap {

// Sleeps until woken, until `nanoseconds` have passed, or not at all if *word is no longer `expected`.
inline void futex_wait(uint32_t* word, uint32_t expected, int64_t nanoseconds) {
  const timespec timeout = {static_cast<time_t>(nanoseconds / 1000000000), static_cast<long>(nanoseconds % 1000000000)};
  syscall(SYS_futex, word, FUTEX_WAIT, expected, &timeout, nullptr, 0);
}

inline void futex_wake_all(uint32_t* word) { syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_FUTEX_H
