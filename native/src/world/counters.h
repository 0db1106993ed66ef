// What one PE's calls have cost: how many of each operation, by which algorithm and of which size, how many bytes they
// had, how long they took and how much of that this PE waited.
//
// Reading a clock takes a tenth of what the smallest call does, and a call needs it four times. So of small calls one
// in sixteen is timed, and stands for the others; which one it is follows no pattern. Waits that outlast some ten
// microseconds are timed in every call, so that one call that waits for a second counts as what it is.
#ifndef SPARKGAP_WORLD_COUNTERS_H
#define SPARKGAP_WORLD_COUNTERS_H

#include <cstdint>

#include "base/ticks.h"
#include "description/algorithms.h"
#include "protocol/atomics.h"
#include "protocol/wait.h"
#include "sparkgap/sparkgap.h"

namespace sparkgap {

// Written by the thread that the handle is confined to, read by any.
class Counters {
 public:
  // Of calls of one kind. All times are ticks.
  struct Row {
    uint64_t calls;
    uint64_t bytes;
    uint64_t long_waits;   // in all calls
    uint64_t timed_calls;  // what follows is of these alone, without their long waits
    uint64_t ticks;
    uint64_t short_waits;
  };

  Row& row(int32_t operation, Algorithm algorithm, uint64_t bytes) {
    return rows_[operation][static_cast<int32_t>(algorithm)][size_class(bytes)];
  }

  // Those that are not zero, at most `capacity` of them; returns how many there are.
  int32_t read(ProviderKind provider, sparkgap_counter* counters, int32_t capacity) const;

  // Classes end at 64 B, 1 KiB, 16 KiB, 256 KiB, 4 MiB, 64 MiB; the last has no end.
  static constexpr int32_t kSizeClasses = 7;
  static constexpr int32_t size_class(uint64_t bytes) {
    if (bytes <= kSmallest) return 0;
    const int32_t above = (63 - __builtin_clzll(bytes - 1) - 6) / 4 + 1;
    return above < kSizeClasses ? above : kSizeClasses - 1;
  }
  // The most bytes that a call of the class has.
  static constexpr uint64_t most_bytes(int32_t size_class) {
    return size_class == kSizeClasses - 1 ? UINT64_MAX : kSmallest << (4 * size_class);
  }

 private:
  static constexpr uint64_t kSmallest = 64;

  Row rows_[SPARKGAP_OPERATIONS][kAlgorithms][kSizeClasses] = {};
};

// The span of one call: counted when it ends, however it ends.
class Counting {
 public:
  Counting(Counters& counters, Waiter& waiter, int32_t operation, Algorithm algorithm, uint64_t bytes)
      : counters_(counters),
        waiter_(waiter),
        operation_(operation),
        algorithm_(algorithm),
        bytes_(bytes),
        long_waits_(waiter.long_waits()) {
    if (__builtin_expect(is_timed(counters.row(operation, algorithm, bytes).calls, bytes), 0)) begin_timing();
  }
  ~Counting() {
    Counters::Row& row = counters_.row(operation_, algorithm_, bytes_);
    store_relaxed(&row.calls, row.calls + 1);
    store_relaxed(&row.bytes, row.bytes + bytes_);
    if (__builtin_expect(waiter_.long_waits() != long_waits_, 0)) add_long_waits(row);
    if (__builtin_expect(began_ != 0, 0)) end_timing(row);
  }
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

  // It went by another algorithm than it was to.
  void by(Algorithm algorithm) { algorithm_ = algorithm; }

 private:
  static constexpr uint64_t kAllTimedAbove = 16 << 10;

  // `calls`: how many of the kind there were before.
  static bool is_timed(uint64_t calls, uint64_t bytes) {
    return bytes > kAllTimedAbove || (calls * 0x9e3779b97f4a7c15u) >> 60 == 0;
  }

  void begin_timing();
  void end_timing(Counters::Row& row) const;
  void add_long_waits(Counters::Row& row) const;

  Counters& counters_;
  Waiter& waiter_;
  const int32_t operation_;
  Algorithm algorithm_;
  const uint64_t bytes_;
  const uint64_t long_waits_;
  uint64_t short_waits_ = 0;
  uint64_t began_ = 0;  // 0: this call is not timed
};

}  // namespace sparkgap

#endif  // SPARKGAP_WORLD_COUNTERS_H
