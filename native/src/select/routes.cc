#include "select/routes.h"

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace sparkgap {

void Routes::make(int32_t collective, const Circumstances& circumstances, const TableRows& table, Algorithm held) {
  tuning_ = circumstances.tuning == nullptr ? &kernels::h200_tuning() : circumstances.tuning;
  pes_ = circumstances.pes;
  lanes_ = circumstances.lanes;
  Row* const rows = rows_[collective];
  int32_t count = 0;
  bool covers = false;   // some message, whatever its arrays
  uint64_t covered = 0;  // up to here
  const auto add = [&](uint64_t bytes, Algorithm algorithm, Reason reason, const kernels::Shape& shape) {
    const Capacity capacity = capacity_of(algorithm, circumstances);
    if (circumstances.deterministic && !gives_same_bits(collective, algorithm)) return;
    if (!capacity.there || !has_algorithm(circumstances.provider, collective, algorithm)) return;
    bytes = std::min(bytes, capacity.bytes);
    if (covers && bytes <= covered) return;
    if (count == kMostRows - 1) fail(SPARKGAP_INTERNAL, kNoPe, "more rules for a collective than there is room for");
    rows[count] = {bytes, algorithm, reason};
    shapes_[collective][count++] = shape;
    if (needs_readable_arrays(algorithm)) return;
    covers = true;
    covered = bytes;
  };
  if (held != Algorithm::kAuto) add(~0ull, held, Reason::kHeld, {});
  for (int32_t i = 0; i < table.count; ++i) {
    add(table.rows[i].bytes, table.rows[i].algorithm, Reason::kTable, table.rows[i].shape);
  }
  std::vector<Rule> rules;
  add_rules(collective, circumstances, &rules);
  for (const Rule& rule : rules) add(rule.bytes, rule.algorithm, Reason::kRule, {});
  // Of a GPU world whose GPUs are not known yet.
  if (!covers) rows[count++] = {~0ull, Algorithm::kAuto, Reason::kRule};
  counts_[collective] = count;
}

bool Routes::takes(Algorithm algorithm) const {
  for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
    const Row* const rows = rows_[collective];
    const auto is_it = [algorithm](const Row& row) { return row.algorithm == algorithm; };
    if (std::any_of(rows, rows + counts_[collective], is_it)) return true;
  }
  return false;
}

void Routes::make(const Circumstances& circumstances) {
  for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
    make(collective, circumstances, {}, Algorithm::kAuto);
  }
}

}  // namespace sparkgap
