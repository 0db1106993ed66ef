// What the tests of steps share: each kind of world that runs here, and short words for recording and running.
#ifndef SPARKGAP_TEST_STEP_STEPS_H
#define SPARKGAP_TEST_STEP_STEPS_H

#include <vector>

#include "support/pes.h"

namespace sparkgap::test {

inline Pes threads(int count) { return {count, Placement::kThreads}; }

inline Pes checked(Pes pes) {
  pes.check = true;
  return pes;
}

// One of each kind of world; threads and several nodes among them.
inline std::vector<Pes> worlds() {
  return {Pes{1}, Pes{2}, checked(Pes{3}), threads(3), nodes_of({1, 1}), checked(nodes_of({2, 1}))};
}

template <class Record>
sparkgap_step* record(const Pe& pe, const Record& calls) {
  pe.ok(sparkgap_step_begin(pe.world()), "sparkgap_step_begin");
  calls();
  sparkgap_step* step = nullptr;
  pe.ok(sparkgap_step_end(pe.world(), &step), "sparkgap_step_end");
  return step;
}

inline void run(const Pe& pe, sparkgap_step* step) { pe.ok(sparkgap_step_run(pe.world(), step), "sparkgap_step_run"); }

inline void sum(const Pe& pe, float* values, uint64_t count) {
  pe.ok(sparkgap_all_reduce(pe.world(), values, values, count, SPARKGAP_FLOAT32, SPARKGAP_SUM), "sparkgap_all_reduce");
}

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_STEP_STEPS_H
