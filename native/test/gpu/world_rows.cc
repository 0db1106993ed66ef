// dispatch, combine and exchangeRows in GPU worlds: tables and rows are in GPU memory, and no host takes part.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "gpu/worlds.h"
#include "rows/router.h"
#include "step/steps.h"

namespace sparkgap::test {
namespace {

uint16_t to_bfloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float from_bfloat16(uint16_t value) {
  const uint32_t bits = static_cast<uint32_t>(value) << 16;
  float wide;
  std::memcpy(&wide, &bits, sizeof wide);
  return wide;
}

// A shape with its buffer, and memory of the GPU's for what goes in and comes out.
class Exchange {
 public:
  Exchange(const Pe& pe, const sparkgap_rows_shape& shape) : shape(shape), pe_(pe) {
    pe.ok(sparkgap_rows_layout_of(pe.world(), &shape, &layout), "sparkgap_rows_layout_of");
    buffer = pe.allocate(layout.bytes);
    rows_ = pe.allocate(shape.rows * shape.width * 8);
    sums_ = pe.allocate(shape.rows * shape.width * 8);
    indices_ = pe.allocate(shape.rows * static_cast<uint64_t>(top_of(shape)) * 4);
    weights_ = pe.allocate(shape.rows * static_cast<uint64_t>(top_of(shape)) * 4);
  }

  void give(const Given& mine) {
    put(rows_, 0, stored(mine.values));
    put(indices_, 0, mine.indices);
    put(weights_, 0, mine.weights);
  }
  sparkgap_status dispatch(uint64_t rows) const {
    const auto* indices = static_cast<const int32_t*>(sparkgap_buffer_address(indices_));
    if (shape.experts == 0) {
      return sparkgap_exchange_rows(pe_.world(), buffer, &shape, sparkgap_buffer_address(rows_), indices, rows);
    }
    return sparkgap_dispatch(pe_.world(), buffer, &shape, sparkgap_buffer_address(rows_), indices, weights(), rows);
  }
  sparkgap_status combine(bool weighted, uint64_t rows) const {
    return sparkgap_combine(pe_.world(), buffer, &shape, weighted ? weights() : nullptr, sparkgap_buffer_address(sums_),
                            rows);
  }

  void get(void* to, sparkgap_buffer* from, uint64_t offset, uint64_t bytes) const {
    pe_.ok(sparkgap_get(pe_.world(), to, from, offset, bytes, pe_.pe()), "sparkgap_get");
  }

  int32_t count(int local) const {
    int32_t count = 0;
    get(&count, buffer, layout.counts + static_cast<uint64_t>(local) * 4, 4);
    return count;
  }

  void expect_received(int call) const {
    const std::vector<Got> all = expected(shape, pe_.pes(), call);
    for (int local = 0; local < layout.local_experts; ++local) {
      const Got& got = all[static_cast<size_t>(layout.first_expert + local)];
      expect(count(local) == static_cast<int32_t>(got.rows.size()), "call %d: expert %d has %d rows instead of %zu",
             call, layout.first_expert + local, count(local), got.rows.size());
      std::vector<float> wanted;
      for (const std::vector<float>& row : got.rows) wanted.insert(wanted.end(), row.begin(), row.end());
      expect_equal(values(layout.received, local, got.rows.size()), wanted, "received rows");
      if (shape.experts == 0) continue;
      std::vector<float> sent(got.weights.size());
      get(sent.data(), buffer, layout.weights + static_cast<uint64_t>(local) * shape.capacity * 4, sent.size() * 4);
      expect_equal(sent, got.weights, "received weights");
    }
  }

  // What experts make of it, and what they say is rounded as rows are.
  void compute() const {
    for (int local = 0; local < layout.local_experts; ++local) {
      std::vector<float> made = values(layout.received, local, static_cast<size_t>(count(local)));
      for (float& value : made) value = made_of(value, layout.first_expert + local);
      put(buffer, room(layout.results, local), stored(made));
    }
  }

  void expect_combined(const Given& mine, bool weighted) const {
    std::vector<float> wanted(mine.values.size(), 0.0f);
    const auto top = static_cast<size_t>(shape.top);
    for (size_t i = 0; i < mine.indices.size(); ++i) {
      const float weight = weighted ? mine.weights[i] : 1.0f;
      if (mine.indices[i] < 0 || weight == 0) continue;
      for (size_t at = i / top * shape.width; at < (i / top + 1) * shape.width; ++at) {
        wanted[at] += weight * rounded(made_of(mine.values[at], mine.indices[i]));
      }
    }
    for (float& value : wanted) value = rounded(value);
    std::vector<uint8_t> bytes(wanted.size() * element());
    get(bytes.data(), sums_, 0, bytes.size());
    expect_equal(widened(bytes), wanted, "combined rows");
  }

  const sparkgap_rows_shape shape;
  sparkgap_rows_layout layout = {};
  sparkgap_buffer* buffer = nullptr;

 private:
  uint64_t element() const {
    return shape.type == SPARKGAP_INT64 ? 8 : shape.type == SPARKGAP_BFLOAT16 ? 2 : sizeof(float);
  }
  float rounded(float value) const {
    return shape.type == SPARKGAP_BFLOAT16 ? from_bfloat16(to_bfloat16(value)) : value;
  }
  std::vector<uint8_t> stored(const std::vector<float>& values) const {
    std::vector<uint8_t> bytes(values.size() * element());
    for (size_t i = 0; i < values.size(); ++i) {
      const auto whole = static_cast<int64_t>(values[i]);
      const uint16_t half = to_bfloat16(values[i]);
      const void* from = shape.type == SPARKGAP_INT64      ? static_cast<const void*>(&whole)
                         : shape.type == SPARKGAP_BFLOAT16 ? static_cast<const void*>(&half)
                                                           : static_cast<const void*>(&values[i]);
      std::memcpy(bytes.data() + i * element(), from, element());
    }
    return bytes;
  }
  std::vector<float> widened(const std::vector<uint8_t>& bytes) const {
    std::vector<float> values(bytes.size() / element());
    for (size_t i = 0; i < values.size(); ++i) {
      int64_t whole = 0;
      uint16_t half = 0;
      if (shape.type == SPARKGAP_INT64) {
        std::memcpy(&whole, bytes.data() + i * 8, 8);
        values[i] = static_cast<float>(whole);
      } else if (shape.type == SPARKGAP_BFLOAT16) {
        std::memcpy(&half, bytes.data() + i * 2, 2);
        values[i] = from_bfloat16(half);
      } else {
        std::memcpy(&values[i], bytes.data() + i * 4, 4);
      }
    }
    return values;
  }
  uint64_t room(uint64_t region, int local) const {
    return region + static_cast<uint64_t>(local) * shape.capacity * shape.width * element();
  }
  std::vector<float> values(uint64_t region, int local, size_t rows) const {
    std::vector<uint8_t> bytes(rows * shape.width * element());
    get(bytes.data(), buffer, room(region, local), bytes.size());
    return widened(bytes);
  }
  const float* weights() const { return static_cast<const float*>(sparkgap_buffer_address(weights_)); }
  template <class Item>
  void put(sparkgap_buffer* to, uint64_t offset, const std::vector<Item>& items) const {
    pe_.ok(sparkgap_put(pe_.world(), to, offset, items.data(), items.size() * sizeof(Item), pe_.pe()), "sparkgap_put");
  }

  const Pe& pe_;
  sparkgap_buffer* rows_ = nullptr;
  sparkgap_buffer* sums_ = nullptr;
  sparkgap_buffer* indices_ = nullptr;
  sparkgap_buffer* weights_ = nullptr;
};

// The last has rows of an odd length, which are moved by elements.
const sparkgap_rows_shape kShapes[] = {
    {SPARKGAP_FLOAT32, 64, 8, 256, 100, 1600, 0}, {SPARKGAP_BFLOAT16, 64, 8, 1024, 300, 4800, 0},
    {SPARKGAP_FLOAT32, 1024, 3, 8, 70, 1120, 0},  {SPARKGAP_FLOAT32, 2, 1, 4, 5, 80, 0},
    {SPARKGAP_FLOAT32, 7, 3, 33, 40, 640, 0},     {SPARKGAP_BFLOAT16, 9, 2, 31, 40, 640, 0},
};

void rows_come_to_experts_and_back() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    for (const sparkgap_rows_shape& shape : kShapes) {
      Exchange exchange(pe, shape);
      for (int call = 0; call < 8; ++call) {
        const Given mine = given(shape, pe.pes(), pe.pe(), call);
        exchange.give(mine);
        pe.ok(exchange.dispatch(mine.rows), "sparkgap_dispatch");
        exchange.expect_received(call);
        exchange.compute();
        for (const bool weighted : {true, false}) {
          pe.ok(exchange.combine(weighted, mine.rows), "sparkgap_combine");
          exchange.expect_combined(mine, weighted);
        }
      }
    }
  });
}

void rows_of_any_type_go_to_the_pe_that_is_named() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    Exchange exchange(pe, {SPARKGAP_INT64, 0, 0, 3, 200, 3200, 0});
    for (int call = 0; call < 8; ++call) {
      const Given mine = given(exchange.shape, pe.pes(), pe.pe(), call);
      exchange.give(mine);
      pe.ok(exchange.dispatch(mine.rows), "sparkgap_exchange_rows");
      exchange.expect_received(call);
    }
  });
}

// A sign, four bits of exponent and three more: the largest is 448.
float from_float8(uint8_t byte) {
  const int exponent = byte >> 3 & 15;
  const int fraction = byte & 7;
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -9)
                                        : std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
  return (byte & 0x80) != 0 ? -magnitude : magnitude;
}

void rows_travel_as_float8_with_a_scale_for_each_group() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    for (const int32_t type : {SPARKGAP_FLOAT32, SPARKGAP_BFLOAT16}) {
      Exchange exchange(pe, {type, 16, 4, 384, 40, 640, 1});
      const uint64_t groups = exchange.shape.width / SPARKGAP_FLOAT8_GROUP;
      const Given mine = given(exchange.shape, pe.pes(), pe.pe(), 2);
      exchange.give(mine);
      pe.ok(exchange.dispatch(mine.rows), "sparkgap_dispatch");
      const std::vector<Got> all = expected(exchange.shape, pe.pes(), 2);
      for (int local = 0; local < exchange.layout.local_experts; ++local) {
        const Got& got = all[static_cast<size_t>(exchange.layout.first_expert + local)];
        expect(exchange.count(local) == static_cast<int32_t>(got.rows.size()), "%d rows instead of %zu",
               exchange.count(local), got.rows.size());
        const uint64_t first = static_cast<uint64_t>(local) * exchange.shape.capacity;
        std::vector<uint8_t> bytes(got.rows.size() * exchange.shape.width);
        std::vector<float> scales(got.rows.size() * groups);
        exchange.get(bytes.data(), exchange.buffer, exchange.layout.received + first * exchange.shape.width,
                     bytes.size());
        exchange.get(scales.data(), exchange.buffer, exchange.layout.scales + first * groups * 4, scales.size() * 4);
        for (size_t i = 0; i < bytes.size(); ++i) {
          const size_t group = i / SPARKGAP_FLOAT8_GROUP;
          const std::vector<float>& row = got.rows[i / exchange.shape.width];
          const float* members = row.data() + group % groups * SPARKGAP_FLOAT8_GROUP;
          const float largest = *std::max_element(members, members + SPARKGAP_FLOAT8_GROUP);
          expect(scales[group] == largest / 448, "the scale of group %zu is %g", group,
                 static_cast<double>(scales[group]));
          const float sent = row[i % exchange.shape.width];
          const float came = from_float8(bytes[i]) * scales[group];
          // Half of the last bit of its fraction, and of the smallest numbers of all half a step.
          expect(std::abs(came - sent) <= std::max(sent / 16, scales[group] / 1024) * 1.001f,
                 "element %zu came as %g instead of %g", i, static_cast<double>(came), static_cast<double>(sent));
        }
      }
    }
  });
}

// Enqueued back to back, nothing between them: what a PE has received is not overwritten before it has been used.
void exchanges_may_follow_each_other_without_a_wait() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    Exchange exchange(pe, {SPARKGAP_FLOAT32, 16, 4, 64, 50, 800, 0});
    const Given mine = given(exchange.shape, pe.pes(), pe.pe(), 5);
    exchange.give(mine);
    pe.ok(exchange.dispatch(mine.rows), "sparkgap_dispatch");
    exchange.compute();
    for (int i = 0; i < 300; ++i) {
      pe.ok(exchange.dispatch(mine.rows), "sparkgap_dispatch");
      pe.ok(exchange.combine(true, mine.rows), "sparkgap_combine");
    }
    exchange.expect_combined(mine, true);
    exchange.expect_received(5);
  });
}

void a_step_exchanges_what_the_tables_hold_when_it_runs() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    Exchange exchange(pe, {SPARKGAP_BFLOAT16, 32, 4, 128, 60, 960, 0});
    Given mine = given(exchange.shape, pe.pes(), pe.pe(), 1);
    sparkgap_step* forth = record(pe, [&] { pe.ok(exchange.dispatch(mine.rows), "sparkgap_dispatch"); });
    sparkgap_step* both = record(pe, [&] {
      pe.ok(exchange.dispatch(mine.rows), "sparkgap_dispatch");
      pe.ok(exchange.combine(true, mine.rows), "sparkgap_combine");
    });
    expect(sparkgap_step_calls(both) == 2, "a step of %d calls", sparkgap_step_calls(both));
    for (int round = 0; round < 4; ++round) {
      for (int32_t& index : mine.indices) index = (index + 1) % 32;
      exchange.give(mine);
      run(pe, forth);
      exchange.compute();
      run(pe, both);
      exchange.expect_combined(mine, true);
    }
  });
}

// Both exchange data through the same memory.
void rows_and_the_resident_kernel_take_turns() {
  if (spans_nodes()) return;
  Pes pes = world_of;
  pes.spoil_options = [](int, sparkgap_world_options& options) { options.resident_idle_ms = 600'000; };
  run_pes(pes, [](const Pe& pe) {
    Exchange exchange(pe, {SPARKGAP_FLOAT32, 16, 4, 64, 50, 800, 0});
    for (int call = 0; call < 20; ++call) {
      const Given mine = given(exchange.shape, pe.pes(), pe.pe(), call);
      exchange.give(mine);
      pe.ok(exchange.dispatch(mine.rows), "sparkgap_dispatch");
      std::vector<float> values = elements(pe.pe(), 16);
      pe.ok(sparkgap_all_reduce(pe.world(), values.data(), values.data(), 16, SPARKGAP_FLOAT32, SPARKGAP_SUM),
            "all_reduce");
      expect_equal(values, sum_of(pe.pes(), 16), "a sum of host memory");
      exchange.expect_received(call);
      exchange.compute();
      pe.ok(exchange.combine(true, mine.rows), "sparkgap_combine");
      exchange.expect_combined(mine, true);
    }
  });
}

void too_many_rows_for_an_expert_end_the_world_and_none_is_sent() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    const auto pes = static_cast<uint64_t>(pe.pes());
    Exchange exchange(pe, {SPARKGAP_FLOAT32, 8, 1, 4, 10, 10 * pes - 1, 0});
    exchange.give({10, std::vector<float>(40, 1), std::vector<int32_t>(10, 6), std::vector<float>(10, 1)});
    sparkgap_status status = exchange.dispatch(10);
    if (status == SPARKGAP_OK) status = sparkgap_synchronize(pe.world());
    expect_failure(pe.world(), status, SPARKGAP_ABORTED,
                   {"expert 6 on PE " + std::to_string(6 * pe.pes() / 8), std::to_string(10 * pes) + " rows",
                    "`capacity` is " + std::to_string(10 * pes - 1)});
    std::vector<float> room(40);
    if (exchange.layout.local_experts > 0) {
      cuda_ok(cudaMemcpy(room.data(),
                         static_cast<uint8_t*>(sparkgap_buffer_address(exchange.buffer)) + exchange.layout.received,
                         160, cudaMemcpyDeviceToHost),
              "looking at what was received");
    }
    expect_equal(room, std::vector<float>(40, 0), "what was refused");
  });
}

void an_index_that_names_no_expert_ends_the_world() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    Exchange exchange(pe, {SPARKGAP_FLOAT32, 8, 2, 4, 10, 200, 0});
    std::vector<int32_t> indices(20, 3);
    if (pe.pe() == 0) indices[7] = 8;
    exchange.give({10, std::vector<float>(40, 1), indices, std::vector<float>(20, 1)});
    sparkgap_status status = exchange.dispatch(10);
    if (status == SPARKGAP_OK) status = sparkgap_synchronize(pe.world());
    expect_failure(pe.world(), status, SPARKGAP_ABORTED,
                   {"dispatch on the GPU of PE 0", "indices sends row 3 to expert 8 by entry 1 of its 2"});
  });
}

void rows_in_host_memory_are_refused() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    Exchange exchange(pe, {SPARKGAP_FLOAT32, 8, 2, 4, 10, 200, 0});
    const std::vector<float> rows(40);
    const std::vector<int32_t> indices(20);
    expect_failure(
        pe.world(),
        sparkgap_dispatch(pe.world(), exchange.buffer, &exchange.shape, rows.data(), indices.data(), nullptr, 10),
        SPARKGAP_INVALID_ARGUMENT, {"is host memory"});
    pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
  });
}

}  // namespace

std::vector<Test> tests_of_rows() {
  return {{"rows_come_to_experts_and_back", rows_come_to_experts_and_back},
          {"rows_of_any_type_go_to_the_pe_that_is_named", rows_of_any_type_go_to_the_pe_that_is_named},
          {"exchanges_may_follow_each_other_without_a_wait", exchanges_may_follow_each_other_without_a_wait},
          {"a_step_exchanges_what_the_tables_hold_when_it_runs", a_step_exchanges_what_the_tables_hold_when_it_runs},
          {"rows_travel_as_float8_with_a_scale_for_each_group", rows_travel_as_float8_with_a_scale_for_each_group},
          {"rows_and_the_resident_kernel_take_turns", rows_and_the_resident_kernel_take_turns},
          {"rows_in_host_memory_are_refused", rows_in_host_memory_are_refused},
          {"too_many_rows_for_an_expert_end_the_world_and_none_is_sent",
           too_many_rows_for_an_expert_end_the_world_and_none_is_sent},
          {"an_index_that_names_no_expert_ends_the_world", an_index_that_names_no_expert_ends_the_world}};
}

}  // namespace sparkgap::test
