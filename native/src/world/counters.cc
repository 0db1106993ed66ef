#include "world/counters.h"

#include <algorithm>

namespace sparkgap {

void Counting::begin_timing() {
  waiter_.time_short_waits(true);
  short_waits_ = waiter_.short_waits();
  began_ = ticks();
}

void Counting::end_timing(Counters::Row& row) const {
  // The clocks of two CPUs differ by some ticks, and this thread may have come to another.
  const auto took = static_cast<int64_t>(ticks() - began_ - (waiter_.long_waits() - long_waits_));
  waiter_.time_short_waits(false);
  store_relaxed(&row.timed_calls, row.timed_calls + 1);
  store_relaxed(&row.ticks, row.ticks + static_cast<uint64_t>(std::max<int64_t>(0, took)));
  store_relaxed(&row.short_waits, row.short_waits + waiter_.short_waits() - short_waits_);
}

void Counting::add_long_waits(Counters::Row& row) const {
  store_relaxed(&row.long_waits, row.long_waits + waiter_.long_waits() - long_waits_);
}

int32_t Counters::read(ProviderKind provider, sparkgap_counter* counters, int32_t capacity) const {
  const double ns = nanoseconds_per_tick();
  int32_t found = 0;
  for (int32_t operation = 0; operation < SPARKGAP_OPERATIONS; ++operation) {
    for (int32_t algorithm = 0; algorithm < kAlgorithms; ++algorithm) {
      for (int32_t size = 0; size < kSizeClasses; ++size) {
        const Row& row = rows_[operation][algorithm][size];
        const uint64_t calls = load_relaxed(&row.calls);
        if (calls == 0) continue;
        if (found < capacity) {
          const uint64_t timed = load_relaxed(&row.timed_calls);
          const double each = timed == 0 ? 0 : ns * static_cast<double>(calls) / static_cast<double>(timed);
          const double long_waits = static_cast<double>(load_relaxed(&row.long_waits)) * ns;
          const double short_waits = static_cast<double>(load_relaxed(&row.short_waits)) * each;
          const double took = static_cast<double>(load_relaxed(&row.ticks)) * each;
          sparkgap_counter& counter = counters[found];
          counter.operation = operation;
          counter.route = route_name(provider, static_cast<Algorithm>(algorithm));
          counter.most_bytes = most_bytes(size);
          counter.calls = calls;
          counter.bytes = load_relaxed(&row.bytes);
          counter.nanoseconds = static_cast<uint64_t>(took + long_waits);
          counter.waited_nanoseconds = static_cast<uint64_t>(short_waits + long_waits);
        }
        ++found;
      }
    }
  }
  return found;
}

}  // namespace sparkgap
