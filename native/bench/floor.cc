// What this machine can do at best, to hold the figures of the collectives against, as JSON: the round trip of a cache
// line between two cores, how fast one core and two at once copy memory, and how long a switch by sched_yield takes.
#include <atomic>
#include <cstring>
#include <thread>

#include "measure.h"
#include "reduce/reduce.h"

namespace sparkgap::bench {
namespace {

// Runs body(0) on one core and body(1) on another, started together; returns the seconds of the slower.
template <class Body>
double on_two_cores(int first, int second, Body body) {
  std::atomic<int> ready{0};
  double seconds[2];
  const auto run = [&](int side, int core) {
    pin_to_core(core);
    ready.fetch_add(1);
    while (ready.load() < 2) std::this_thread::yield();
    const double start = seconds_now();
    body(side);
    seconds[side] = seconds_now() - start;
  };
  std::thread one(run, 0, first);
  std::thread other(run, 1, second);
  one.join();
  other.join();
  return std::max(seconds[0], seconds[1]);
}

template <class Measurement>
double median_of_batches(Measurement measurement) {
  std::vector<double> values;
  for (int batch = 0; batch < kBatches; ++batch) values.push_back(measurement());
  return median(values);
}

// Two sides take turns at one counter; `pause` is what a side does while it is not its turn.
template <class Pause>
double seconds_per_round_trip(int first, int second, int rounds, Pause pause) {
  struct alignas(128) Line {
    std::atomic<int> turn{0};
  };
  Line line;
  return on_two_cores(first, second,
                      [&](int side) {
                        for (int i = side; i < 2 * rounds; i += 2) {
                          while (line.turn.load(std::memory_order_acquire) != i) pause();
                          line.turn.store(i + 1, std::memory_order_release);
                        }
                      }) /
         rounds;
}

double round_trip_ns() {
  constexpr int kRounds = 200000;
  return median_of_batches([] { return seconds_per_round_trip(0, 1, kRounds, [] {}) * 1e9; });
}

// On one core each turn needs a switch to the other thread, so that a round trip is two.
double yield_switch_ns() {
  constexpr int kRounds = 50000;
  return median_of_batches([] { return seconds_per_round_trip(0, 0, kRounds, [] { sched_yield(); }) / 2 * 1e9; });
}

using Copy = void (*)(void* dst, const void* src, size_t bytes);

void copy_by_libc(void* dst, const void* src, size_t bytes) { std::memcpy(dst, src, bytes); }

// Bytes copied (read once and written once) in a second by all cores together, in units of 10^9.
double copy_gb_per_s(Copy copy, size_t bytes, int cores) {
  const int repeats = static_cast<int>(std::max<size_t>(4, (size_t{256} << 20) / bytes));
  std::vector<std::vector<char>> from(2, std::vector<char>(bytes, 1));
  std::vector<std::vector<char>> to(2, std::vector<char>(bytes, 2));
  return median_of_batches([&] {
    const double seconds = on_two_cores(0, 1, [&](int side) {
      if (side >= cores) return;
      for (int i = 0; i < repeats; ++i) copy(to[side].data(), from[side].data(), bytes);
    });
    return static_cast<double>(bytes) * repeats * cores / seconds / 1e9;
  });
}

// As copy_gb_per_s, for the sum of two arrays: bytes of the result in a second.
double reduce_gb_per_s(ReduceFunction reduce, size_t bytes, int cores) {
  const int repeats = static_cast<int>(std::max<size_t>(4, (size_t{256} << 20) / bytes));
  std::vector<std::vector<char>> arrays(6, std::vector<char>(bytes, 0));
  return median_of_batches([&] {
    const double seconds = on_two_cores(0, 1, [&](int side) {
      if (side >= cores) return;
      const void* ins[] = {arrays[3 * side].data(), arrays[3 * side + 1].data()};
      for (int i = 0; i < repeats; ++i) reduce(arrays[3 * side + 2].data(), ins, 2, bytes / sizeof(float));
    });
    return static_cast<double>(bytes) * repeats * cores / seconds / 1e9;
  });
}

void print_floor() {
  std::printf("{\"kernels\": \"%s\",\n \"round_trip_ns\": %.1f,\n \"yield_switch_ns\": %.1f,\n \"bandwidth\": [",
              kernel_isa(), round_trip_ns(), yield_switch_ns());
  const ReduceFunction reduce = reduce_function(0, 0);
  const ReduceFunction reduce_streaming = reduce_function_streaming(0, 0);
  const char* separator = "";
  for (const size_t bytes : {size_t{16} << 10, size_t{256} << 10, size_t{4} << 20, size_t{64} << 20}) {
    for (const int cores : {1, 2}) {
      std::printf(
          "%s\n  {\"bytes\": %zu, \"cores\": %d, \"memcpy_gb_s\": %.1f, \"copy_streaming_gb_s\": %.1f, "
          "\"sum_gb_s\": %.1f, \"sum_streaming_gb_s\": %.1f}",
          separator, bytes, cores, copy_gb_per_s(copy_by_libc, bytes, cores),
          copy_gb_per_s(copy_streaming, bytes, cores), reduce_gb_per_s(reduce, bytes, cores),
          reduce_gb_per_s(reduce_streaming, bytes, cores));
      separator = ",";
    }
  }
  std::printf("\n ]}\n");
}

}  // namespace
}  // namespace sparkgap::bench

int main() {
  if (std::thread::hardware_concurrency() < 2) {
    std::fprintf(stderr, "floor measures between two cores, and this process may use only one\n");
    return 2;
  }
  sparkgap::bench::print_floor();
}
