#include "collective/grid.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "collective/algorithms.h"
#include "support/calls.h"
#include "support/check.h"
#include "support/reference.h"

namespace sparkgap::test {
namespace {

constexpr uint64_t kCounts[] = {0, 1, 3, 7, 8, 13, 14, 15, 63, 64, 65, 1023, 1024, 1025};
constexpr uint64_t kLargeCount = (1 << 20) + 3;

struct Combination {
  int32_t type;
  int32_t op;
};

// For counts that are too costly to try with everything.
constexpr Combination kFew[] = {{SPARKGAP_FLOAT32, SPARKGAP_SUM},  {SPARKGAP_INT8, SPARKGAP_MAX},
                                {SPARKGAP_FLOAT16, SPARKGAP_AVG},  {SPARKGAP_FLOAT64, SPARKGAP_PROD},
                                {SPARKGAP_BFLOAT16, SPARKGAP_SUM}, {SPARKGAP_INT64, SPARKGAP_MIN},
                                {SPARKGAP_INT32, SPARKGAP_AVG}};

class Grid {
 public:
  Grid(int pes, ProviderKind provider) : pes_(pes), provider_(provider) {}

  // All types and operations with all small counts, in and out of place; memory and shift take turns.
  void add_small(int32_t collective, const char* algorithm) {
    for (int32_t type = 0; type < SPARKGAP_TYPES; ++type) {
      for (int32_t op = 0; op < (kCollectives[collective].has_op ? SPARKGAP_OPS : 1); ++op) {
        for (const uint64_t count : kCounts) {
          for (const bool in_place : {false, true}) add(collective, algorithm, {type, op}, count, in_place, turn_);
        }
      }
    }
  }

  // Every memory and shift for one type of each size.
  void add_every_memory(int32_t collective, const char* algorithm) {
    for (int i = 0; i < 4; ++i) {
      const Combination what = kFew[i];
      for (const uint64_t count : kCounts) {
        for (int turn = 0; turn < kMemories * kShifts; ++turn) {
          for (const bool in_place : {false, true}) add(collective, algorithm, what, count, in_place, turn);
        }
      }
    }
  }

  // One less, exactly and one more than each size at which something changes.
  void add_thresholds(int32_t collective, const char* algorithm) {
    for (const uint64_t bytes : threshold_bytes(collective, pes_, provider_)) {
      const Combination combination = kFew[turn_ % std::size(kFew)];
      const uint64_t count = bytes / bytes_of(combination.type);
      for (const uint64_t near : {count - 1, count, count + 1}) {
        add(collective, algorithm, combination, near, turn_ % 2 == 0, turn_ / 2);
      }
    }
  }

  // First out of place with 4 bytes an element, which is enough for results that are stored past the caches.
  void add_large(int32_t collective, const char* algorithm) {
    const uint64_t count = kLargeCount / (kCollectives[collective].has_blocks() ? pes_ : 1);
    for (int turn = 0; turn < 2; ++turn) {
      const Combination combination = kFew[turn == 0 ? 0 : turn_ % 3];
      add(collective, algorithm, combination, count, turn == 1, turn_);
    }
  }

  const std::vector<Case>& cases() const { return cases_; }

 private:
  static constexpr int kShifts = 3;

  void add(int32_t collective, const char* algorithm, Combination what, uint64_t count, bool in_place, int turn) {
    const int shifts[kShifts] = {0, 1, 3};
    cases_.push_back({collective, algorithm, what.type, what.op, count, turn_ % pes_, in_place,
                      static_cast<Memory>(turn % kMemories), shifts[turn / kMemories % kShifts],
                      static_cast<uint64_t>(turn_ / 2)});
    ++turn_;
  }

  int pes_;
  ProviderKind provider_;
  int turn_ = 0;
  std::vector<Case> cases_;
};

}  // namespace

std::vector<Case> full_grid(int pes, ProviderKind provider) {
  Grid grid(pes, provider);
  for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
    for (const char* algorithm : algorithms_of(collective, provider)) {
      grid.add_small(collective, algorithm);
      grid.add_every_memory(collective, algorithm);
      grid.add_thresholds(collective, algorithm);
      grid.add_large(collective, algorithm);
    }
  }
  return grid.cases();
}

std::vector<Case> grid_of_the_selector(int pes, ProviderKind provider) {
  Grid grid(pes, provider);
  for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
    grid.add_every_memory(collective, "auto");
    grid.add_thresholds(collective, "auto");
    grid.add_large(collective, "auto");
  }
  return grid.cases();
}

std::vector<Case> grid_in_private_memory(int pes) {
  Grid grid(pes, ProviderKind::kHost);
  for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
    grid.add_small(collective, "auto");
    grid.add_large(collective, "auto");
  }
  std::vector<Case> cases = grid.cases();
  for (Case& c : cases) c.memory = Memory::kPrivate;
  return cases;
}

void run_grid(const Pes& pes, const std::vector<Case>& cases, Elements elements) {
  const Inputs inputs(pes.count, elements);
  uint64_t largest = 0;
  for (const Case& c : cases) largest = std::max(largest, array_bytes(c, pes.count));
  const Shared<uint64_t> hashes(cases.size() * pes.count);
  run_pes(pes, [&](const Pe& pe) {
    CaseRunner runner(pe, inputs, largest);
    for (size_t i = 0; i < cases.size(); ++i) hashes[i * pes.count + pe.pe()] = runner.run(cases[i]);
  });
  for (size_t i = 0; i < cases.size(); ++i) {
    for (int pe = 1; pe < pes.count; ++pe) {
      expect(hashes[i * pes.count + pe] == hashes[i * pes.count], "%s: PE %d holds other bits than PE 0",
             describe(cases[i]).c_str(), pe);
    }
  }
  std::printf("     %zu calls by %d %s\n", cases.size(), pes.count, placement_name(pes.placement));
}

}  // namespace sparkgap::test
