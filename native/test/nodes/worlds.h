// PEs on hosts of a test, and the call that shows whether their world works.
#ifndef SPARKGAP_TEST_NODES_WORLDS_H
#define SPARKGAP_TEST_NODES_WORLDS_H

#include <vector>

#include "support/check.h"
#include "support/pes.h"

namespace sparkgap::test {

// So many PEs on each host, in the order of the hosts.
inline Pes pes_on(const std::vector<int>& nodes) {
  Pes pes = nodes_of(nodes);
  pes.on_hosts = true;
  return pes;
}

inline void expect_sum(const Pe& pe, float own, float sum) {
  std::vector<float> values(1000, own);
  pe.ok(sparkgap_all_reduce(pe.world(), values.data(), values.data(), values.size(), SPARKGAP_FLOAT32, SPARKGAP_SUM),
        "sparkgap_all_reduce");
  for (const float value : values) expect(value == sum, "a sum is %g, not %g", value, sum);
}

}  // namespace sparkgap::test

#endif  // SPARKGAP_TEST_NODES_WORLDS_H
