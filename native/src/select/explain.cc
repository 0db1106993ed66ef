#include "select/explain.h"

#include "select/cost.h"

namespace sparkgap {

Estimate estimate(int32_t collective, Algorithm algorithm, uint64_t bytes, const Circumstances& circumstances,
                  const TuningTable* table) {
  const double measured = table == nullptr ? 0 : table->time_of(collective, algorithm, bytes);
  if (measured > 0) return {measured, true};
  return {estimate_us(collective, algorithm, bytes, circumstances), false};
}

Explanation explain(int32_t collective, uint64_t bytes, const Circumstances& circumstances, const Routes& routes,
                    const TuningTable* table) {
  Explanation explanation = {};
  explanation.choice = routes.choice(collective, bytes);
  explanation.estimate = estimate(collective, explanation.choice.algorithm, bytes, circumstances, table);
  explanation.next = Algorithm::kAuto;
  for (int32_t number = 1; number < kAlgorithms; ++number) {
    const Algorithm other = static_cast<Algorithm>(number);
    if (other == explanation.choice.algorithm || !has_algorithm(circumstances.provider, collective, other) ||
        !can_carry(other, bytes, circumstances) ||
        (circumstances.deterministic && !gives_same_bits(collective, other))) {
      continue;
    }
    const Estimate its = estimate(collective, other, bytes, circumstances, table);
    if (explanation.next != Algorithm::kAuto && its.us >= explanation.next_estimate.us) continue;
    explanation.next = other;
    explanation.next_estimate = its;
  }
  return explanation;
}

}  // namespace sparkgap
