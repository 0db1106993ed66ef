// Long runs of small calls, where what goes wrong is what one call leaves behind for the next.
#include <unistd.h>

#include <atomic>
#include <random>

#include "collective/case.h"
#include "support/check.h"

namespace sparkgap::test {
namespace {

constexpr uint64_t kLargestCount = 70;

// The same on every PE, because every PE draws from the same seed.
Case random_case(std::mt19937_64& random, int pes) {
  Case c{};
  c.collective = static_cast<int32_t>(random() % SPARKGAP_COLLECTIVES);
  c.algorithm = "auto";
  c.type = static_cast<int32_t>(random() % SPARKGAP_TYPES);
  c.op = static_cast<int32_t>(random() % SPARKGAP_OPS);
  c.count = random() % kLargestCount;
  c.root = static_cast<int32_t>(random() % static_cast<uint64_t>(pes));
  c.in_place = random() % 2 == 0;
  c.memory = static_cast<Memory>(random() % kMemories);
  c.shift = static_cast<int>(random() % 4);
  c.salt = random() % 65536;
  return c;
}

// Mostly none; now and then a peer has to spin, seldom it has to yield, and sometimes to sleep.
void random_delay(std::mt19937_64& random) {
  const uint64_t draw = random() % 20000;
  if (draw < 200) {
    for (volatile int i = 0; i < 2000; i = i + 1) {
    }
  } else if (draw < 300) {
    usleep(static_cast<useconds_t>(random() % 300));
  } else if (draw < 304) {
    usleep(20000);
  }
}

void run_random_sequence(const Pes& pes, int calls) {
  const Inputs inputs(pes.count);
  run_pes(pes, [&](const Pe& pe) {
    CaseRunner runner(pe, inputs, (kLargestCount + 2) * 8 * static_cast<uint64_t>(pes.count));
    std::mt19937_64 shared_draws(42);
    std::mt19937_64 own_draws(static_cast<uint64_t>(pe.pe()) + 1);
    for (int i = 0; i < calls; ++i) {
      random_delay(own_draws);
      runner.run(random_case(shared_draws, pes.count));
    }
  });
}

// Nothing but the calls: no check in between gives a PE the time to fall in step with the others.
void run_back_to_back(const Pes& pes, int calls) {
  run_pes(pes, [&](const Pe& pe) {
    std::mt19937_64 draws(static_cast<uint64_t>(pe.pe()) + 1);
    for (int64_t i = 0; i < calls; ++i) {
      random_delay(draws);
      const int64_t in = i * 1000 + pe.pe();
      int64_t out = 0;
      pe.ok(sparkgap_all_reduce(pe.world(), &in, &out, 1, SPARKGAP_INT64, SPARKGAP_SUM), "sparkgap_all_reduce");
      const int64_t expected = i * 1000 * pe.pes() + pe.pes() * (pe.pes() - 1) / 2;
      expect(out == expected, "call %ld gave %ld, not %ld", i, out, expected);
    }
  });
}

// No PE leaves a barrier before the last has entered it.
void run_barriers(const Pes& pes, int calls) {
  const Shared<std::atomic<int>> entered;
  run_pes(pes, [&](const Pe& pe) {
    std::mt19937_64 draws(static_cast<uint64_t>(pe.pe()) + 1);
    for (int i = 1; i <= calls; ++i) {
      random_delay(draws);
      entered->fetch_add(1);
      pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
      const int seen = entered->load();
      expect(seen >= i * pe.pes(), "barrier %d let PE %d out when %d of %d had entered", i, pe.pe(),
             seen - (i - 1) * pe.pes(), pe.pes());
    }
  });
}

// A broadcast's root and a reduce's other PEs could run ahead of the rest; buffers must not be reused under those.
void run_ahead(const Pes& pes, int calls) {
  run_pes(pes, [&](const Pe& pe) {
    std::mt19937_64 draws(static_cast<uint64_t>(pe.pe()) + 1);
    std::vector<int32_t> in(500);
    std::vector<int32_t> out(500);
    for (int i = 0; i < calls; ++i) {
      if (pe.pe() != 0) random_delay(draws);
      const uint64_t count = 1 + static_cast<uint64_t>(i) % in.size();
      for (uint64_t k = 0; k < count; ++k) in[k] = i + static_cast<int32_t>(k);
      pe.ok(sparkgap_broadcast(pe.world(), in.data(), out.data(), count, SPARKGAP_INT32, 0), "sparkgap_broadcast");
      expect(out[count - 1] == i + static_cast<int32_t>(count) - 1 && out[0] == i, "broadcast %d is of another call",
             i);
      if (i % 16 != 0) continue;
      const int32_t root = static_cast<int32_t>(pe.pes() - 1);
      pe.ok(sparkgap_reduce(pe.world(), in.data(), out.data(), count, SPARKGAP_INT32, SPARKGAP_SUM, root),
            "sparkgap_reduce");
      expect(pe.pe() != root || out[0] == i * pe.pes(), "reduce %d gave %d", i, out[0]);
    }
  });
}

Pes processes(int count) {
  Pes pes{count};
  pes.deadline_seconds = 200;
  return pes;
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"hundred_thousand_small_reductions_by_2_processes", [] { run_back_to_back(processes(2), 100000); }},
       {"hundred_thousand_small_reductions_by_4_processes", [] { run_back_to_back(processes(4), 100000); }},
       {"twenty_thousand_small_reductions_by_4_threads", [] { run_back_to_back({4, Placement::kThreads}, 20000); }},
       {"mixed_collectives_by_2_processes", [] { run_random_sequence(processes(2), 60000); }},
       {"mixed_collectives_by_5_processes", [] { run_random_sequence(processes(5), 20000); }},
       {"mixed_collectives_by_3_threads", [] { run_random_sequence({3, Placement::kThreads}, 20000); }},
       {"no_pe_leaves_a_barrier_early", [] { run_barriers(processes(4), 20000); }},
       {"a_root_that_runs_ahead_overwrites_nothing", [] { run_ahead(processes(3), 20000); }}});
}
