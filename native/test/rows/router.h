// What a router chose, the same to be worked out on every PE, and what has to come of it: for the tests of exchanges of
// rows, on the host and on GPUs.
#ifndef SPARKGAP_TEST_ROWS_ROUTER_H
#define SPARKGAP_TEST_ROWS_ROUTER_H

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "sparkgap/sparkgap.h"

namespace sparkgap::test {

// What one PE gives in one call.
struct Given {
  uint64_t rows;
  std::vector<float> values;     // [row][width], small whole numbers, so that they are right in every type
  std::vector<int32_t> indices;  // [row][top]
  std::vector<float> weights;    // [row][top]
};

// The rows that one expert gets, in order.
struct Got {
  std::vector<std::vector<float>> rows;
  std::vector<float> weights;
};

inline int top_of(const sparkgap_rows_shape& shape) { return shape.experts == 0 ? 1 : shape.top; }
inline int experts_of(const sparkgap_rows_shape& shape, int pes) { return shape.experts == 0 ? pes : shape.experts; }
inline int first_expert(const sparkgap_rows_shape& shape, int pes, int pe) {
  return static_cast<int>(int64_t{pe} * experts_of(shape, pes) / pes);
}

// Of PE `pe` in the call number `call`: another number of rows each time, no expert twice for a row, now and then none.
inline Given given(const sparkgap_rows_shape& shape, int pes, int pe, int call) {
  std::mt19937 random(static_cast<uint32_t>(1000 * call + pe + 1));
  const int top = top_of(shape);
  const int experts = experts_of(shape, pes);
  Given all;
  all.rows = call % 4 == 3 && pe == 0 ? 0 : 1 + random() % shape.rows;
  std::vector<int32_t> order(static_cast<size_t>(experts));
  for (int i = 0; i < experts; ++i) order[static_cast<size_t>(i)] = i;
  for (uint64_t row = 0; row < all.rows; ++row) {
    std::shuffle(order.begin(), order.end(), random);
    for (int k = 0; k < top; ++k) {
      all.indices.push_back(random() % 8 == 0 ? -1 : order[static_cast<size_t>(k)]);
      all.weights.push_back(static_cast<float>(random() % 100) / 128);
    }
    for (uint64_t i = 0; i < shape.width; ++i) all.values.push_back(static_cast<float>(random() % 100));
  }
  return all;
}

inline std::vector<Got> expected(const sparkgap_rows_shape& shape, int pes, int call) {
  std::vector<Got> all(static_cast<size_t>(experts_of(shape, pes)));
  const auto width = static_cast<std::ptrdiff_t>(shape.width);
  for (int pe = 0; pe < pes; ++pe) {
    const Given mine = given(shape, pes, pe, call);
    for (size_t i = 0; i < mine.indices.size(); ++i) {
      if (mine.indices[i] < 0) continue;
      Got& got = all[static_cast<size_t>(mine.indices[i])];
      const auto row = mine.values.begin() + static_cast<std::ptrdiff_t>(i) / top_of(shape) * width;
      got.rows.emplace_back(row, row + width);
      got.weights.push_back(mine.weights[i]);
    }
  }
  return all;
}

// What expert `expert` makes of a value.
inline float made_of(float value, int expert) { return value * static_cast<float>(1 + expert % 7) + 0.25f; }

// What combine gives, in float32.
inline std::vector<float> combined(const sparkgap_rows_shape& shape, const Given& mine, bool weighted) {
  std::vector<float> out(mine.values.size(), 0.0f);
  const auto top = static_cast<size_t>(top_of(shape));
  for (size_t i = 0; i < mine.indices.size(); ++i) {
    const float weight = weighted ? mine.weights[i] : 1.0f;
    if (mine.indices[i] < 0 || weight == 0) continue;
    for (size_t e = 0; e < shape.width; ++e) {
      const size_t at = i / top * shape.width + e;
      out[at] += weight * made_of(mine.values[at], mine.indices[i]);
    }
  }
  return out;
}

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_ROWS_ROUTER_H
