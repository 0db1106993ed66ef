#include "base/ticks.h"

#include "base/clock.h"

namespace sparkgap {
namespace {

// The two clocks at one moment.
struct Moment {
  int64_t us = now_us();
  uint64_t at = ticks();
};

const Moment& first() {
  static const Moment moment;
  return moment;
}

// Taken when the library is loaded, so that whoever asks has a stretch of time behind it.
[[maybe_unused]] const Moment& loaded = first();

constexpr int64_t kLeastUs = 1000;

}  // namespace

double nanoseconds_per_tick() {
  const Moment& then = first();
  Moment now;
  // A shorter stretch would be measured too coarsely.
  while (now.us - then.us < kLeastUs) now = Moment();
  return static_cast<double>(now.us - then.us) * 1000 / static_cast<double>(now.at - then.at);
}

}  // namespace sparkgap
