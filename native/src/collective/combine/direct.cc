// combine: each PE reads what the experts made of its rows where it lies, in the buffers of the experts' PEs.
//
//   step 1: all results are there
//   row i of out = weight 0 * result of its first expert + weight 1 * result of its second + ...    in this order
//   step 2: all have read, and results may be written again
#include <algorithm>

#include "collective/host_rows.h"

namespace sparkgap {
namespace {

void add_weighted(float* __restrict sum, const float* __restrict row, float weight, uint64_t width) {
  for (uint64_t i = 0; i < width; ++i) sum[i] += weight * row[i];
}

void combine_rows(const HostNode& node, const RowsCall& call) {
  const RowsPlan& plan = call.plan;
  const auto* const places = in_part<RowPlace>(call, node.pe(), plan.places_at);
  const auto top = static_cast<uint64_t>(plan.top);
  for (uint64_t row = 0; row < call.rows; ++row) {
    float* const sum = static_cast<float*>(call.out) + row * plan.width;
    std::fill_n(sum, plan.width, 0.0f);
    for (uint64_t i = row * top; i < (row + 1) * top; ++i) {
      const float weight = call.weights == nullptr ? 1.0f : call.weights[i];
      if (places[i].pe < 0 || weight == 0) continue;
      add_weighted(sum, in_part<float>(call, places[i].pe, plan.results_at) + places[i].row * plan.width, weight,
                   plan.width);
    }
  }
}

}  // namespace

void combine_direct(HostNode& node, const RowsCall& call) {
  node.steps().meet();
  combine_rows(node, call);
  node.steps().meet();
}

}  // namespace sparkgap
