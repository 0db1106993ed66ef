// What it costs to count a call: a batch of them with nothing inside, and of waits that are over as they begin; and to
// choose its route. Prints
// nanoseconds of each; see bench/README.md.
#include <cstdio>
#include <vector>

#include "measure.h"
#include "select/routes.h"
#include "support/control_memory.h"
#include "world/counters.h"

namespace sparkgap::bench {
namespace {

constexpr int kCalls = 2000000;

template <class Call>
double nanoseconds(const Call& call) {
  std::vector<double> batches;
  for (int batch = -1; batch < kBatches; ++batch) {
    const double start = seconds_now();
    for (int i = 0; i < kCalls; ++i) {
      call(i);
      asm volatile("" ::: "memory");  // as a call's stores would be
    }
    if (batch >= 0) batches.push_back((seconds_now() - start) / kCalls * 1e9);
  }
  return median(batches);
}

}  // namespace
}  // namespace sparkgap::bench

int main() {
  using namespace sparkgap;
  using namespace sparkgap::bench;
  pin_to_core(0);
  test::ControlMemory memory(2);
  Waiter waiter(memory.control(), 0, nullptr, {.spins = 1000});
  Counters counters;
  const double call = nanoseconds([&](int i) {
    const Counting counting(counters, waiter, SPARKGAP_ALL_REDUCE, Algorithm::kPackets, 64 + (i & 1023));
  });
  int looks = 0;
  const double wait = nanoseconds([&](int) { waiter.until(1, [&] { return (++looks & 1) == 0; }); });
  // As many rows as a table may have: the last sizes walk over all of them.
  TableRow rows[Routes::kMostTableRows];
  for (int row = 0; row < Routes::kMostTableRows; ++row) rows[row] = {uint64_t{1} << row, Algorithm::kOneShot, {}};
  Circumstances circumstances;
  circumstances.pes = 4;
  Routes routes;
  routes.make(SPARKGAP_ALL_REDUCE, circumstances, {rows, Routes::kMostTableRows}, Algorithm::kAuto);
  int64_t chosen = 0;
  const double choose = nanoseconds(
      [&](int i) { chosen += static_cast<int64_t>(routes.choose(SPARKGAP_ALL_REDUCE, uint64_t{1} << (i & 31))); });
  std::printf("{\"call_ns\": %.1f, \"wait_ns\": %.1f, \"choose_ns\": %.1f}\n", call, wait, choose);
  return chosen == 0;
}
