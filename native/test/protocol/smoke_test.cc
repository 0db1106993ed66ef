// Every call of the interface once, between processes and between threads, with values that show who sent what.
#include <cstring>
#include <numeric>
#include <vector>

#include "protocol/pe_group.h"
#include "support/check.h"

namespace sparkgap::test {
namespace {

using Values = std::vector<int64_t>;

// Larger than any slot, and odd.
constexpr uint64_t kCount = 300001;

// What PE `pe` holds at index i.
int64_t value_of(int64_t pe, uint64_t i) { return (pe + 1) * 1000003 + static_cast<int64_t>(i) * 7; }

Values values_of(int64_t pe, uint64_t count) {
  Values values(count);
  for (uint64_t i = 0; i < count; ++i) values[i] = value_of(pe, i);
  return values;
}

int64_t sum_at(int64_t pes, uint64_t i) {
  int64_t sum = 0;
  for (int64_t pe = 0; pe < pes; ++pe) sum += value_of(pe, i);
  return sum;
}

void expect_equal(const Values& got, uint64_t i, int64_t expected, const char* what) {
  expect(got[i] == expected, "%s: element %llu is %lld instead of %lld", what, static_cast<unsigned long long>(i),
         static_cast<long long>(got[i]), static_cast<long long>(expected));
}

void call_every_collective(TestWorld& world, int64_t pes, uint64_t count) {
  const uint64_t n = static_cast<uint64_t>(pes);
  const uint64_t own = static_cast<uint64_t>(world.pe());
  const Values in = values_of(world.pe(), count * n);
  Values out(count * n);
  const auto fresh = [&] { std::fill(out.begin(), out.end(), -1); };

  fresh();
  expect_ok(world, sparkgap_all_reduce(world, in.data(), out.data(), count, SPARKGAP_INT64, SPARKGAP_SUM));
  for (uint64_t i = 0; i < count; ++i) expect_equal(out, i, sum_at(pes, i), "allReduce");

  out = in;
  expect_ok(world, sparkgap_all_reduce(world, out.data(), out.data(), count, SPARKGAP_INT64, SPARKGAP_MAX));
  for (uint64_t i = 0; i < count; ++i) expect_equal(out, i, value_of(pes - 1, i), "allReduce in place");

  fresh();
  expect_ok(world, sparkgap_reduce_scatter(world, in.data(), out.data(), count, SPARKGAP_INT64, SPARKGAP_SUM));
  for (uint64_t i = 0; i < count; ++i) expect_equal(out, i, sum_at(pes, own * count + i), "reduceScatter");

  fresh();
  expect_ok(world, sparkgap_all_gather(world, in.data(), out.data(), count, SPARKGAP_INT64));
  for (uint64_t i = 0; i < count * n; ++i) {
    expect_equal(out, i, value_of(static_cast<int64_t>(i / std::max<uint64_t>(count, 1)), i % count), "allGather");
  }

  for (int32_t root = 0; root < pes; ++root) {
    fresh();
    expect_ok(world, sparkgap_broadcast(world, world.pe() == root ? in.data() : nullptr, out.data(), count,
                                        SPARKGAP_INT64, root));
    for (uint64_t i = 0; i < count; ++i) expect_equal(out, i, value_of(root, i), "broadcast");
  }

  for (int32_t root = 0; root < pes; ++root) {
    fresh();
    expect_ok(world, sparkgap_reduce(world, in.data(), world.pe() == root ? out.data() : nullptr, count, SPARKGAP_INT64,
                                     SPARKGAP_SUM, root));
    for (uint64_t i = 0; i < count && world.pe() == root; ++i) expect_equal(out, i, sum_at(pes, i), "reduce");
  }

  fresh();
  expect_ok(world, sparkgap_all_to_all(world, in.data(), out.data(), count, SPARKGAP_INT64));
  for (uint64_t i = 0; i < count * n; ++i) {
    expect_equal(out, i, value_of(static_cast<int64_t>(i / count), own * count + i % count), "allToAll");
  }
  expect_ok(world, sparkgap_barrier(world));
}

// PE a sends (a + b) % 3 * count elements to PE b.
void call_all_to_allv(TestWorld& world, int64_t pes, uint64_t count) {
  const uint64_t n = static_cast<uint64_t>(pes);
  std::vector<uint64_t> counts(n);
  std::vector<uint64_t> offsets(n);
  uint64_t total = 0;
  for (uint64_t peer = 0; peer < n; ++peer) {
    counts[peer] = (static_cast<uint64_t>(world.pe()) + peer) % 3 * count;
    offsets[peer] = total;
    total += counts[peer];
  }
  const Values in = values_of(world.pe(), total + 1);
  Values out(total + 1, -1);
  expect_ok(world, sparkgap_all_to_allv(world, in.data(), counts.data(), offsets.data(), out.data(), counts.data(),
                                        offsets.data(), SPARKGAP_INT64));
  for (uint64_t peer = 0; peer < n; ++peer) {
    uint64_t offset_there = 0;
    for (uint64_t before = 0; before < static_cast<uint64_t>(world.pe()); ++before) {
      offset_there += (peer + before) % 3 * count;
    }
    for (uint64_t i = 0; i < counts[peer]; ++i) {
      expect_equal(out, offsets[peer] + i, value_of(static_cast<int64_t>(peer), offset_there + i), "allToAllv");
    }
  }
}

void call_one_sided(TestWorld& world, int32_t pes) {
  constexpr uint64_t kBytes = 100000;
  sparkgap_buffer* data = nullptr;
  sparkgap_buffer* signals = nullptr;
  expect_ok(world, sparkgap_allocate(world, kBytes, &data));
  expect_ok(world, sparkgap_allocate(world, 64, &signals));
  const int32_t next = (world.pe() + 1) % pes;
  const int32_t previous = (world.pe() + pes - 1) % pes;

  const std::vector<uint8_t> mine(kBytes / 2, static_cast<uint8_t>(world.pe() + 1));
  expect_ok(world,
            sparkgap_put_signal(world, data, 16, mine.data(), mine.size(), signals, 8, 5, SPARKGAP_SIGNAL_SET, next));
  int64_t observed = 0;
  expect_ok(world, sparkgap_wait_signal(world, signals, 8, SPARKGAP_EQ, 5, &observed));
  expect(observed == 5, "the signal was %lld", static_cast<long long>(observed));
  const auto* received = static_cast<const uint8_t*>(sparkgap_buffer_address(data));
  expect(received[15] == 0 && received[16] == previous + 1 && received[16 + mine.size() - 1] == previous + 1 &&
             received[16 + mine.size()] == 0,
         "the put of PE %d did not arrive whole", previous);

  expect_ok(world, sparkgap_barrier(world));
  std::vector<uint8_t> fetched(mine.size());
  expect_ok(world, sparkgap_get(world, fetched.data(), data, 16, fetched.size(), next));
  expect(fetched == mine, "get did not bring back what was put");

  for (int i = 0; i < 1000; ++i) {
    int64_t before = 0;
    expect_ok(world, sparkgap_fetch_add(world, signals, 16, 1, 0, &before));
    expect_ok(world, sparkgap_signal(world, signals, 24, 1, SPARKGAP_SIGNAL_ADD, next));
  }
  expect_ok(world, sparkgap_wait_signal(world, signals, 24, SPARKGAP_GE, 1000, &observed));
  expect_ok(world, sparkgap_barrier(world));
  int64_t sum = 0;
  expect_ok(world, sparkgap_get(world, &sum, signals, 16, sizeof sum, 0));
  expect(sum == 1000 * pes, "fetchAdd lost some: %lld", static_cast<long long>(sum));
  expect_ok(world, sparkgap_free(world, signals));
  expect_ok(world, sparkgap_free(world, data));
}

void call_everything(TestWorld& world, int32_t pes) {
  for (const uint64_t count : {uint64_t{1}, uint64_t{7}, uint64_t{64}, uint64_t{5000}, kCount}) {
    call_every_collective(world, pes, count);
    call_all_to_allv(world, pes, count);
  }
  expect_ok(world, sparkgap_all_reduce(world, nullptr, nullptr, 0, SPARKGAP_FLOAT32, SPARKGAP_SUM));
  call_one_sided(world, pes);
  expect_ok(world, sparkgap_synchronize(world));
  expect_ok(world, sparkgap_world_health(world));
}

Test in_processes(const char* name, int32_t pes, bool check) {
  return {name, [=] {
            GroupOptions options;
            options.pes = pes;
            options.check = check;
            expect_all_well(run_processes(options, [=](TestWorld& world) { call_everything(world, pes); }));
          }};
}

Test in_threads(const char* name, int32_t pes) {
  return {name, [=] {
            GroupOptions options;
            options.pes = pes;
            expect_all_well(run_threads(options, [=](TestWorld& world) { call_everything(world, pes); }));
          }};
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(argc, argv,
                   {in_processes("oneProcessIsAWorld", 1, false), in_processes("twoProcesses", 2, false),
                    in_processes("twoProcessesThatCheckTheirCalls", 2, true), in_processes("threeProcesses", 3, false),
                    in_processes("fiveProcesses", 5, false), in_threads("fourThreadsOfOneProcess", 4)});
}
