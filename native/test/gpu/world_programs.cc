// Steps of small collectives alone, which run as one kernel: whatever the calls read and write of each other.
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "gpu/worlds.h"
#include "step/steps.h"

namespace sparkgap::test {
namespace {

constexpr size_t kElements = 40'000;
constexpr uint64_t kBytes = kElements * 4;

// The same `count` calls on all PEs, within one part of memory that they read and write in each other's way.
void make_calls(const Pe& pe, uint8_t* memory, uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  sparkgap_world* world = pe.world();
  const auto pes = static_cast<size_t>(pe.pes());
  size_t most = 0;
  for (int i = 0; i < count; ++i) {
    // Small ones, and some in a row that several blocks share, which have to meet.
    if (i % 8 == 0) most = random() % 14 == 0 ? 4000 : 300;
    const size_t elements = 1 + random() % (most / pes);
    const bool integers = random() % 2 == 0;
    const int32_t type = integers ? SPARKGAP_INT32 : SPARKGAP_FLOAT32;
    constexpr int32_t kOfFloats[] = {SPARKGAP_AVG, SPARKGAP_MIN, SPARKGAP_MAX};
    const int32_t op = integers ? static_cast<int32_t>(random() % SPARKGAP_OPS) : kOfFloats[random() % 3];
    const auto root = static_cast<int32_t>(random() % pes);
    const uint64_t kind = random() % 8;
    // Integers and floats keep apart, so that no sum is of what is no number.
    const size_t half = kElements / 2;
    const size_t room = half - 2 * 4000;
    const size_t first = (integers ? half : 0) + (random() % 2 == 0 ? 0 : random() % room);
    uint8_t* const in = memory + first * 4;
    uint8_t* const out = in + 4000 * 4;
    switch (kind) {
      case 0:
        pe.ok(sparkgap_reduce_scatter(world, in, out, elements, type, op), "reduce_scatter");
        break;
      case 1:
        pe.ok(sparkgap_all_gather(world, in, out, elements, type), "all_gather");
        break;
      case 2:
        pe.ok(sparkgap_all_to_all(world, in, out, elements, type), "all_to_all");
        break;
      case 3:
        pe.ok(sparkgap_broadcast(world, in, out, elements * pes, type, root), "broadcast");
        break;
      case 4:
        pe.ok(sparkgap_reduce(world, in, in, elements * pes, type, op, root), "reduce");
        break;
      default:
        pe.ok(sparkgap_all_reduce(world, in, kind == 5 ? out : in, elements * pes, type, op), "all_reduce");
    }
  }
}

// Integers that are small floats, too.
std::vector<float> start_of(int pe) {
  std::vector<float> values(kElements);
  for (size_t i = 0; i < kElements; ++i)
    values[i] = static_cast<float>((i * 7 + static_cast<size_t>(pe) * 13) % 101) / 4;
  return values;
}

// `by_step`: whether a PE makes the calls as a step, or one by one.
void expect_same_bits(const std::function<bool(int pe)>& by_step) {
  run_pes(world_of, [&](const Pe& pe) {
    sparkgap_buffer* mine = pe.allocate(kBytes);
    sparkgap_buffer* expected = pe.allocate(kBytes);
    auto* const memory = static_cast<uint8_t*>(sparkgap_buffer_address(mine));
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      // More than one kernel has.
      const int count = seed == 4 ? 600 : 100;
      sparkgap_step* step = record(pe, [&] { make_calls(pe, memory, seed, count); });
      write(pe, mine, start_of(pe.pe()));
      write(pe, expected, start_of(pe.pe()));
      for (int round = 0; round < 3; ++round) {
        if (by_step(pe.pe())) {
          run(pe, step);
        } else {
          make_calls(pe, memory, seed, count);
        }
        make_calls(pe, static_cast<uint8_t*>(sparkgap_buffer_address(expected)), seed, count);
        synchronize(pe);
        const std::vector<float> found = read(pe, mine, kElements);
        const std::vector<float> wanted = read(pe, expected, kElements);
        for (size_t i = 0; i < kElements; ++i) {
          expect(std::memcmp(&found[i], &wanted[i], 4) == 0, "seed %lu, round %d: element %zu is %g, not %g", seed,
                 round, i, static_cast<double>(found[i]), static_cast<double>(wanted[i]));
        }
      }
      pe.ok(sparkgap_step_destroy(pe.world(), step), "destroy");
    }
  });
}

void small_collectives_of_all_kinds_in_a_step_give_the_same_bits() {
  expect_same_bits([](int) { return true; });
}

void a_pe_with_a_step_of_small_collectives_meets_one_that_makes_them_one_by_one() {
  if (has_no_peer()) return;
  expect_same_bits([](int pe) { return pe != 1; });
}

// In the second kernel of a long step.
void a_pe_that_does_not_come_is_named_with_the_call_of_a_long_step() {
  if (has_no_peer()) return;
  Pes pes = world_of;
  pes.peer_timeout_ms = 4000;
  const Shared<std::atomic<int>> ended;
  run_pes(pes, [&](const Pe& pe) {
    auto* values = static_cast<float*>(sparkgap_buffer_address(pe.allocate(4000)));
    const auto make = [&](int count) {
      for (int i = 0; i < count; ++i) {
        pe.ok(sparkgap_all_reduce(pe.world(), values, values, 100, SPARKGAP_FLOAT32, SPARKGAP_AVG), "all_reduce");
      }
    };
    sparkgap_step* step = record(pe, [&] { make(300); });
    if (pe.pe() == 1) {
      make(298);
      while (ended->load() < pe.pes() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return;
    }
    sparkgap_status status = sparkgap_step_run(pe.world(), step);
    if (status == SPARKGAP_OK) status = sparkgap_synchronize(pe.world());
    ended->fetch_add(1);
    expect_failure(pe.world(), status, SPARKGAP_TIMED_OUT, {"allReduce (call 299 of step 1)", "4000 ms"});
  });
}

}  // namespace

std::vector<Test> tests_of_programs() {
  return {
      {"small_collectives_of_all_kinds_in_a_step_give_the_same_bits",
       small_collectives_of_all_kinds_in_a_step_give_the_same_bits},
      {"a_pe_with_a_step_of_small_collectives_meets_one_that_makes_them_one_by_one",
       a_pe_with_a_step_of_small_collectives_meets_one_that_makes_them_one_by_one},
      {"a_pe_that_does_not_come_is_named_with_the_call_of_a_long_step",
       a_pe_that_does_not_come_is_named_with_the_call_of_a_long_step},
  };
}

}  // namespace sparkgap::test
