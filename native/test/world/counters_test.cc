// What a PE's calls are counted as.
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/check.h"
#include "support/pes.h"

namespace sparkgap::test {
namespace {

std::vector<sparkgap_counter> counters_of(const Pe& pe) {
  std::vector<sparkgap_counter> counters(sparkgap_world_counters(pe.world(), nullptr, 0));
  const auto capacity = static_cast<int32_t>(counters.size());
  expect(sparkgap_world_counters(pe.world(), counters.data(), capacity) == capacity, "the number of counters changed");
  return counters;
}

void expect_counter(const Pe& pe, int32_t operation, const char* route, uint64_t most_bytes, uint64_t calls,
                    uint64_t bytes) {
  std::string found;
  for (const sparkgap_counter& counter : counters_of(pe)) {
    if (counter.operation != operation || counter.most_bytes != most_bytes) continue;
    found += std::string(" ") + counter.route + " " + std::to_string(counter.calls) + " calls of " +
             std::to_string(counter.bytes) + " B";
    if (std::strcmp(counter.route, route) != 0 || counter.calls != calls || counter.bytes != bytes) continue;
    // What waits for nobody may be over within one step of the processor's clock.
    const bool takes_time = operation < SPARKGAP_COLLECTIVES && bytes > 0;
    expect((counter.nanoseconds > 0 || !takes_time) && counter.nanoseconds < UINT64_C(3600000000000) &&
               counter.waited_nanoseconds <= counter.nanoseconds,
           "operation %d, %s: %lu ns, of them %lu waiting", operation, route, counter.nanoseconds,
           counter.waited_nanoseconds);
    return;
  }
  expect(false, "operation %d up to %lu B: %s, not %s %lu calls of %lu B", operation, most_bytes,
         found.empty() ? "nothing" : found.c_str(), route, calls, bytes);
}

void every_call_is_counted_by_operation_route_and_size(const Pes& pes) {
  run_pes(pes, [](const Pe& pe) {
    sparkgap_world* world = pe.world();
    expect(counters_of(pe).empty(), "a new world has counted already");
    std::vector<float> in(5000, 1), out(5000 * pe.pes());
    for (int i = 0; i < 10; ++i) {
      pe.ok(sparkgap_all_reduce(world, in.data(), out.data(), 16, SPARKGAP_FLOAT32, SPARKGAP_SUM), "all_reduce");
    }
    pe.ok(sparkgap_all_reduce(world, in.data(), out.data(), 0, SPARKGAP_FLOAT32, SPARKGAP_SUM), "all_reduce");
    const std::string small = sparkgap_route(world, SPARKGAP_ALL_REDUCE, 16, SPARKGAP_FLOAT32);
    expect_counter(pe, SPARKGAP_ALL_REDUCE, small.c_str(), 64, 10, 640);
    expect_counter(pe, SPARKGAP_ALL_REDUCE, "", 64, 1, 0);

    pe.ok(sparkgap_world_set_algorithm(world, SPARKGAP_ALL_REDUCE, "two-shot"), "set_algorithm");
    pe.ok(sparkgap_all_reduce(world, in.data(), out.data(), 5000, SPARKGAP_FLOAT32, SPARKGAP_SUM), "all_reduce");
    expect_counter(pe, SPARKGAP_ALL_REDUCE, "host/two-shot", 256 << 10, 1, 20000);

    pe.ok(sparkgap_barrier(world), "barrier");
    expect_counter(pe, SPARKGAP_BARRIER, "host/flags", 64, 1, 0);

    const auto pes = static_cast<uint64_t>(pe.pes());
    std::vector<uint64_t> counts(pes, 100), offsets(pes);
    for (uint64_t i = 0; i < pes; ++i) offsets[i] = 100 * i;
    pe.ok(sparkgap_all_to_allv(world, in.data(), counts.data(), offsets.data(), out.data(), counts.data(),
                               offsets.data(), SPARKGAP_FLOAT32),
          "all_to_allv");
    expect_counter(pe, SPARKGAP_ALL_TO_ALLV, "host/staged", 16 << 10, 1, 400 * pes);

    sparkgap_buffer* buffer = pe.allocate(4096);
    const int32_t next = (pe.pe() + 1) % pe.pes();
    int64_t before = 0;
    pe.ok(sparkgap_put(world, buffer, 0, in.data(), 1024, next), "put");
    pe.ok(sparkgap_put_signal(world, buffer, 0, in.data(), 1024, buffer, 2048, 1, SPARKGAP_SIGNAL_SET, next), "put");
    pe.ok(sparkgap_wait_signal(world, buffer, 2048, SPARKGAP_EQ, 1, nullptr), "wait_signal");
    pe.ok(sparkgap_get(world, out.data(), buffer, 0, 65, next), "get");
    pe.ok(sparkgap_signal(world, buffer, 2056, 1, SPARKGAP_SIGNAL_ADD, next), "signal");
    pe.ok(sparkgap_fetch_add(world, buffer, 2064, 1, next, &before), "fetch_add");
    pe.ok(sparkgap_synchronize(world), "synchronize");
    expect_counter(pe, SPARKGAP_PUT, "", 1024, 1, 1024);
    expect_counter(pe, SPARKGAP_PUT_SIGNAL, "", 1024, 1, 1024);
    expect_counter(pe, SPARKGAP_GET, "", 1024, 1, 65);
    for (const int32_t word : {SPARKGAP_SIGNAL, SPARKGAP_WAIT_SIGNAL, SPARKGAP_FETCH_ADD}) {
      expect_counter(pe, word, "", 64, 1, 8);
    }
    expect_counter(pe, SPARKGAP_SYNCHRONIZE, "", 64, 1, 0);
    pe.ok(sparkgap_barrier(world), "barrier");
  });
}

// Refused calls touch nothing, and so are not counted.
void a_refused_call_is_not_counted(const Pes& pes) {
  run_pes(pes, [](const Pe& pe) {
    float value = 0;
    expect(sparkgap_all_reduce(pe.world(), &value, &value, 1, SPARKGAP_FLOAT32, 99) == SPARKGAP_INVALID_ARGUMENT,
           "there is no operation 99");
    expect(counters_of(pe).empty(), "a refused call was counted");
  });
}

void who_comes_first_waits(const Pes& pes) {
  run_pes(pes, [](const Pe& pe) {
    if (pe.pe() == 0) usleep(100000);
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    const sparkgap_counter counter = counters_of(pe).at(0);
    if (pe.pe() == 0) return;
    expect(counter.waited_nanoseconds > 0, "PE %d waited %lu of %lu ns", pe.pe(), counter.waited_nanoseconds,
           counter.nanoseconds);
  });
}

// Room for fewer than there are takes the first.
void as_many_are_written_as_fit(const Pes& pes) {
  run_pes(pes, [](const Pe& pe) {
    std::vector<float> array(5000);
    for (const uint64_t count : {1, 5000}) {
      pe.ok(sparkgap_broadcast(pe.world(), array.data(), array.data(), count, SPARKGAP_FLOAT32, 0), "broadcast");
    }
    sparkgap_counter counters[2] = {};
    expect(sparkgap_world_counters(pe.world(), counters, 1) == 2, "there are not two counters");
    expect(counters[0].calls == 1 && counters[1].calls == 0, "not one counter was written");
    expect(sparkgap_world_counters(nullptr, counters, 2) == 0, "no world has counters");
  });
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  const Pes processes{3};
  const Pes threads{3, Placement::kThreads};
  return run_tests(
      argc, argv,
      {{"every_call_is_counted_by_operation_route_and_size",
        [=] { every_call_is_counted_by_operation_route_and_size(processes); }},
       {"every_call_of_threads_is_counted", [=] { every_call_is_counted_by_operation_route_and_size(threads); }},
       {"a_refused_call_is_not_counted", [=] { a_refused_call_is_not_counted(processes); }},
       {"who_comes_first_waits", [=] { who_comes_first_waits(processes); }},
       {"as_many_are_written_as_fit", [=] { as_many_are_written_as_fit(processes); }}});
}
