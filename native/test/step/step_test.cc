// Steps: calls that are recorded once and run as one call, in each kind of world that runs here.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "description/collective.h"
#include "step/steps.h"
#include "support/calls.h"
#include "support/check.h"
#include "support/make_call.h"

// Counts what this process allocates: the library's calls come here, too. Sanitizers have a malloc of their own.
static thread_local uint64_t allocations = 0;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" void* __libc_malloc(size_t bytes);
extern "C" void* malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
#endif

namespace sparkgap::test {
namespace {

// A call of each collective at sizes that take different algorithms, whose arrays follow each other in `memory`; for
// each the tables that an allToAllv needs.
class Mixture {
 public:
  Mixture(const Pe& pe, uint8_t* in, uint8_t* out) : pe_(pe), in_(in), out_(out) {
    for (const uint64_t count : kCounts) {
      for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) add(collective, count);
    }
  }

  static uint64_t bytes(int pes) {
    uint64_t all = 0;
    for (const uint64_t count : kCounts) {
      for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
        all += 64 + 8 * std::max(in_count(collective, count, pes), out_count(collective, count, pes));
      }
    }
    return all;
  }

  void make() const {
    for (const CollectiveCall& call : calls_) {
      pe_.ok(make_call(pe_.world(), call), kCollectives[call.collective].name);
    }
  }
  int32_t count() const { return static_cast<int32_t>(calls_.size()); }

 private:
  static constexpr uint64_t kCounts[] = {0, 1, 13, 700, 30000};

  void add(int32_t collective, uint64_t count) {
    const int32_t type = static_cast<int32_t>(calls_.size()) % SPARKGAP_TYPES;
    const int32_t op = static_cast<int32_t>(calls_.size()) % SPARKGAP_OPS;
    CollectiveCall call = sparkgap::make_call(collective, in_ + used_, out_ + used_, count, type, op, pe_.pes() - 1);
    const Exchange exchange = {count, calls_.size()};
    std::vector<uint64_t> table[4];
    for (int peer = 0; peer < pe_.pes(); ++peer) {
      table[0].push_back(exchange.count(pe_.pe(), peer));
      table[2].push_back(exchange.count(peer, pe_.pe()));
      table[1].push_back(exchange.offset(pe_.pe(), peer));
      table[3].push_back(exchange.offset(pe_.pe(), peer));
    }
    for (const std::vector<uint64_t>& column : table) tables_.push_back(column);
    call.send_counts = tables_[tables_.size() - 4].data();
    call.send_offsets = tables_[tables_.size() - 3].data();
    call.receive_counts = tables_[tables_.size() - 2].data();
    call.receive_offsets = tables_[tables_.size() - 1].data();
    calls_.push_back(call);
    used_ += 64 + 8 * std::max(in_count(collective, count, pe_.pes()), out_count(collective, count, pe_.pes()));
    used_ = (used_ + 63) / 64 * 64;
  }

  const Pe& pe_;
  uint8_t* in_;
  uint8_t* out_;
  uint64_t used_ = 0;
  std::vector<CollectiveCall> calls_;
  std::vector<std::vector<uint64_t>> tables_;
};

void a_step_gives_the_same_bits_as_its_calls_one_by_one() {
  for (const Pes& pes : worlds()) {
    run_pes(pes, [](const Pe& pe) {
      const uint64_t bytes = 2 * Mixture::bytes(pe.pes());
      sparkgap_buffer* buffer = pe.allocate(2 * bytes);
      uint8_t* symmetric = static_cast<uint8_t*>(sparkgap_buffer_address(buffer));
      std::vector<uint8_t> own(bytes);
      std::vector<uint8_t> expected(bytes);
      // Symmetric to symmetric, and from a buffer into memory of this PE's own.
      for (uint8_t* const out : {symmetric + bytes, own.data()}) {
        sparkgap_step* step = nullptr;
        {
          // allToAllv's tables go with this.
          const Mixture recorded(pe, symmetric, out);
          step = record(pe, [&] { recorded.make(); });
          expect(sparkgap_step_calls(step) == recorded.count(), "a step of %d calls, not %d", sparkgap_step_calls(step),
                 recorded.count());
        }
        const Mixture single(pe, symmetric, expected.data());
        for (uint64_t round = 0; round < 3; ++round) {
          std::mt19937_64 random(100 * round + static_cast<uint64_t>(pe.pe()));
          for (uint64_t at = 0; at + 8 <= bytes; at += 8) {
            const uint64_t bits = random();
            std::memcpy(symmetric + at, &bits, 8);
          }
          std::memset(out, 0, bytes);
          std::memset(expected.data(), 0, bytes);
          run(pe, step);
          single.make();
          pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
          expect(same_bytes(out, expected.data(), bytes), "round %lu of a step gave other bits", round);
        }
        pe.ok(sparkgap_step_destroy(pe.world(), step), "sparkgap_step_destroy");
      }
    });
  }
}

void a_recorded_call_is_made_when_the_step_runs_and_not_before() {
  for (const Pes& pes : worlds()) {
    run_pes(pes, [](const Pe& pe) {
      float value = 1;
      const uint64_t before = sparkgap_world_calls(pe.world());
      sparkgap_step* step = record(pe, [&] {
        sum(pe, &value, 1);
        sum(pe, &value, 1);
      });
      expect(value == 1 && sparkgap_world_calls(pe.world()) == before, "recorded, and made");
      run(pe, step);
      const auto pes = static_cast<float>(pe.pes());
      expect(value == pes * pes, "two sums gave %g", static_cast<double>(value));
      expect(sparkgap_world_calls(pe.world()) == before + 2, "its calls are not counted");
      run(pe, step);
      run(pe, step);
      expect(value == pes * pes * pes * pes * pes * pes, "three runs gave %g", static_cast<double>(value));
    });
  }
}

// Each PE passes a number on to the next, which waits for it, and fetches it back.
void one_sided_calls_are_recorded() {
  for (const Pes& pes : worlds()) {
    run_pes(pes, [](const Pe& pe) {
      sparkgap_world* world = pe.world();
      constexpr uint64_t kBytes = 300000;
      sparkgap_buffer* data = pe.allocate(2 * kBytes);
      sparkgap_buffer* signals = pe.allocate(64);
      auto* words = static_cast<int64_t*>(sparkgap_buffer_address(signals));
      auto* own = static_cast<uint8_t*>(sparkgap_buffer_address(data));
      const int next = (pe.pe() + 1) % pe.pes();
      const int last = (pe.pe() + pe.pes() - 1) % pe.pes();
      std::vector<uint8_t> in(kBytes);
      std::vector<uint8_t> back(kBytes);
      sparkgap_step* step = record(pe, [&] {
        pe.ok(sparkgap_put(world, data, 0, in.data(), kBytes, next), "put");
        pe.ok(sparkgap_put(world, data, 0, in.data(), 0, next), "put of nothing");
        pe.ok(sparkgap_put_signal(world, data, kBytes, in.data(), kBytes, signals, 0, 1, SPARKGAP_SIGNAL_ADD, next),
              "put_signal");
        pe.ok(sparkgap_wait_signal(world, signals, 0, SPARKGAP_EQ, 1, nullptr), "wait_signal");
        pe.ok(sparkgap_signal(world, signals, 0, 0, SPARKGAP_SIGNAL_SET, pe.pe()), "signal");
        pe.ok(sparkgap_fetch_add(world, signals, 8, 3, next, nullptr), "fetch_add");
        pe.ok(sparkgap_barrier(world), "barrier");
        pe.ok(sparkgap_get(world, back.data(), data, kBytes, kBytes, next), "get");
        pe.ok(sparkgap_barrier(world), "barrier");
      });
      expect(sparkgap_step_calls(step) == 9, "a step of %d calls", sparkgap_step_calls(step));
      for (int round = 1; round <= 3; ++round) {
        in.assign(kBytes, static_cast<uint8_t>(round * 16 + pe.pe()));
        run(pe, step);
        for (uint64_t i = 0; i < 2 * kBytes; ++i) {
          expect(own[i] == round * 16 + last, "round %d: byte %lu is %d", round, i, own[i]);
        }
        expect(back == in, "round %d: what came back is not what was put", round);
        expect(words[1] == 3 * round, "round %d: the sum is %ld", round, words[1]);
        pe.ok(sparkgap_barrier(world), "barrier");
      }
    });
  }
}

void a_run_allocates_nothing() {
  for (const Pes& pes : {Pes{2}, nodes_of({1, 1})}) {
    run_pes(pes, [](const Pe& pe) {
      sparkgap_buffer* buffer = pe.allocate(1 << 20);
      auto* values = static_cast<float*>(sparkgap_buffer_address(buffer));
      sparkgap_step* step = record(pe, [&] {
        for (const uint64_t count : {1, 16, 5000, 100000}) sum(pe, values, count);
        pe.ok(sparkgap_put(pe.world(), buffer, 4096, values, 2048, 1 - pe.pe()), "put");
        pe.ok(sparkgap_barrier(pe.world()), "barrier");
      });
      run(pe, step);
      const uint64_t before = allocations;
      for (int i = 0; i < 20; ++i) run(pe, step);
      const uint64_t made = allocations - before;
      expect(made == 0, "20 runs allocated %lu times", made);
    });
  }
}

void steps_of_several_are_run_in_any_order() {
  run_pes(Pes{2}, [](const Pe& pe) {
    float a = 1;
    float b = 1;
    sparkgap_step* first = record(pe, [&] { sum(pe, &a, 1); });
    sparkgap_step* second = record(pe, [&] { sum(pe, &b, 1); });
    sparkgap_step* none = record(pe, [] {});
    run(pe, second);
    run(pe, none);
    run(pe, first);
    pe.ok(sparkgap_step_destroy(pe.world(), first), "destroy");
    sum(pe, &a, 1);
    run(pe, second);
    expect(a == 4 && b == 4, "%g and %g", static_cast<double>(a), static_cast<double>(b));
    expect(sparkgap_step_calls(none) == 0 && sparkgap_step_calls(nullptr) == 0, "a step of nothing has calls");
  });
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"a_step_gives_the_same_bits_as_its_calls_one_by_one", a_step_gives_the_same_bits_as_its_calls_one_by_one},
       {"a_recorded_call_is_made_when_the_step_runs_and_not_before",
        a_recorded_call_is_made_when_the_step_runs_and_not_before},
       {"one_sided_calls_are_recorded", one_sided_calls_are_recorded},
       {"a_run_allocates_nothing", a_run_allocates_nothing},
       {"steps_of_several_are_run_in_any_order", steps_of_several_are_run_in_any_order}});
}
