// Why a call takes its route, and what the next best would take.
#ifndef SPARKGAP_SELECT_EXPLAIN_H
#define SPARKGAP_SELECT_EXPLAIN_H

#include <cstdint>

#include "select/routes.h"
#include "select/table.h"

namespace sparkgap {

struct Estimate {
  double us;
  bool measured;  // or interpolated between two sizes that were
};

struct Explanation {
  Routes::Choice choice;
  Estimate estimate;
  Algorithm next;  // kAuto: there is no other
  Estimate next_estimate;
};

// `table`: the one in use, or nullptr.
Estimate estimate(int32_t collective, Algorithm algorithm, uint64_t bytes, const Circumstances& circumstances,
                  const TuningTable* table);
Explanation explain(int32_t collective, uint64_t bytes, const Circumstances& circumstances, const Routes& routes,
                    const TuningTable* table);

}  // namespace sparkgap

#endif  // SPARKGAP_SELECT_EXPLAIN_H
