// dispatch, combine and exchangeRows in host memory: what arrives and comes back, and what is refused.
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "protocol/expect_failure.h"
#include "rows/router.h"
#include "step/steps.h"
#include "support/check.h"

namespace sparkgap::test {
namespace {

sparkgap_rows_shape for_experts(int experts, int top, uint64_t width, uint64_t rows, uint64_t capacity) {
  return {SPARKGAP_FLOAT32, experts, top, width, rows, capacity, 0};
}

// A shape with its buffer.
class Exchange {
 public:
  Exchange(const Pe& pe, const sparkgap_rows_shape& shape) : shape(shape), pe_(pe) {
    pe.ok(sparkgap_rows_layout_of(pe.world(), &shape, &layout), "sparkgap_rows_layout_of");
    buffer = pe.allocate(layout.bytes);
  }

  template <class Item>
  Item* at(uint64_t offset) const {
    return reinterpret_cast<Item*>(static_cast<uint8_t*>(sparkgap_buffer_address(buffer)) + offset);
  }
  // Of local expert `local`, row `row`.
  float* received(uint64_t local, uint64_t row) const {
    return at<float>(layout.received) + (local * shape.capacity + row) * shape.width;
  }
  float* result(uint64_t local, uint64_t row) const {
    return at<float>(layout.results) + (local * shape.capacity + row) * shape.width;
  }

  sparkgap_status dispatch(const Given& mine) const {
    return sparkgap_dispatch(pe_.world(), buffer, &shape, mine.values.data(), mine.indices.data(), mine.weights.data(),
                             mine.rows);
  }
  sparkgap_status combine(const float* weights, std::vector<float>& out, uint64_t rows) const {
    return sparkgap_combine(pe_.world(), buffer, &shape, weights, out.data(), rows);
  }

  void expect_received(int call, bool weights) const {
    const std::vector<Got> all = expected(shape, pe_.pes(), call);
    for (int local = 0; local < layout.local_experts; ++local) {
      const Got& got = all[static_cast<size_t>(layout.first_expert + local)];
      const int32_t count = at<int32_t>(layout.counts)[local];
      expect(count == static_cast<int32_t>(got.rows.size()), "call %d: expert %d has %d rows instead of %zu", call,
             layout.first_expert + local, count, got.rows.size());
      for (uint64_t row = 0; row < got.rows.size(); ++row) {
        expect(same_bytes(received(static_cast<uint64_t>(local), row), got.rows[row].data(), shape.width * 4),
               "call %d: row %lu of expert %d is another", call, row, layout.first_expert + local);
        const float weight = at<float>(layout.weights)[static_cast<uint64_t>(local) * shape.capacity + row];
        expect(!weights || weight == got.weights[row], "call %d: weight %lu of expert %d is %g", call, row,
               layout.first_expert + local, static_cast<double>(weight));
      }
    }
  }

  void compute() const {
    for (int local = 0; local < layout.local_experts; ++local) {
      const auto expert = static_cast<uint64_t>(local);
      for (int32_t row = 0; row < at<int32_t>(layout.counts)[local]; ++row) {
        for (uint64_t i = 0; i < shape.width; ++i) {
          const float value = received(expert, static_cast<uint64_t>(row))[i];
          result(expert, static_cast<uint64_t>(row))[i] = made_of(value, layout.first_expert + local);
        }
      }
    }
  }

  const sparkgap_rows_shape shape;
  sparkgap_rows_layout layout = {};
  sparkgap_buffer* buffer = nullptr;

 private:
  const Pe& pe_;
};

std::vector<Pes> host_worlds() { return {Pes{1}, Pes{2}, checked(Pes{3}), threads(3)}; }

void rows_arrive_grouped_by_expert_and_come_back_summed(const sparkgap_rows_shape& shape) {
  for (const Pes& pes : host_worlds()) {
    run_pes(pes, [&shape](const Pe& pe) {
      const Exchange exchange(pe, shape);
      for (int call = 0; call < 12; ++call) {
        const Given mine = given(shape, pe.pes(), pe.pe(), call);
        pe.ok(exchange.dispatch(mine), "sparkgap_dispatch");
        exchange.expect_received(call, true);
        exchange.compute();
        std::vector<float> out(mine.values.size(), -1.0f);
        pe.ok(exchange.combine(mine.weights.data(), out, mine.rows), "sparkgap_combine");
        expect(same_bytes(out.data(), combined(shape, mine, true).data(), out.size() * 4), "call %d: other sums", call);
        // Results stay, so that they can be summed in another way.
        pe.ok(exchange.combine(nullptr, out, mine.rows), "sparkgap_combine");
        expect(same_bytes(out.data(), combined(shape, mine, false).data(), out.size() * 4),
               "call %d: other sums without weights", call);
      }
    });
  }
}

void a_step_exchanges_what_the_tables_hold_when_it_runs() {
  const sparkgap_rows_shape shape = for_experts(5, 2, 9, 20, 60);
  for (const Pes& pes : host_worlds()) {
    run_pes(pes, [&shape](const Pe& pe) {
      const Exchange exchange(pe, shape);
      Given mine = given(shape, pe.pes(), pe.pe(), 0);
      std::vector<float> out(mine.values.size());
      sparkgap_step* step = record(pe, [&] {
        pe.ok(exchange.dispatch(mine), "sparkgap_dispatch");
        pe.ok(exchange.combine(mine.weights.data(), out, mine.rows), "sparkgap_combine");
      });
      expect(sparkgap_step_calls(step) == 2, "a step of %d calls", sparkgap_step_calls(step));
      expect_failure(pe.world(), sparkgap_free(pe.world(), exchange.buffer), SPARKGAP_INVALID_ARGUMENT,
                     {"is used by step 1"});
      for (int round = 0; round < 3; ++round) {
        for (int32_t& index : mine.indices) index = (index + 1) % shape.experts;
        run(pe, step);
        pe.ok(exchange.dispatch(mine), "sparkgap_dispatch");
        exchange.compute();
        pe.ok(exchange.combine(mine.weights.data(), out, mine.rows), "sparkgap_combine");
        expect(same_bytes(out.data(), combined(shape, mine, true).data(), out.size() * 4), "round %d: other sums",
               round);
        // By now the results are those of this table.
        run(pe, step);
        expect(same_bytes(out.data(), combined(shape, mine, true).data(), out.size() * 4),
               "round %d: the step gave other bits", round);
      }
      if (pe.pe() == 0 && mine.rows > 0) {
        mine.indices[0] = shape.experts;
        expect_failure(pe.world(), sparkgap_step_run(pe.world(), step), SPARKGAP_INVALID_ARGUMENT,
                       {"call 1 of 2, dispatch of rows of float32 x 9", "of step 1", "sends row 0 to expert 5"});
      }
      pe.ok(sparkgap_step_destroy(pe.world(), step), "sparkgap_step_destroy");
    });
  }
}

void rows_of_any_type_go_to_the_pe_that_is_named() {
  const sparkgap_rows_shape shape = {SPARKGAP_INT64, 0, 0, 3, 50, 200, 0};
  for (const Pes& pes : host_worlds()) {
    run_pes(pes, [&shape](const Pe& pe) {
      const Exchange exchange(pe, shape);
      for (int call = 0; call < 8; ++call) {
        const Given mine = given(shape, pe.pes(), pe.pe(), call);
        const std::vector<int64_t> rows(mine.values.begin(), mine.values.end());
        pe.ok(sparkgap_exchange_rows(pe.world(), exchange.buffer, &shape, rows.data(), mine.indices.data(), mine.rows),
              "sparkgap_exchange_rows");
        const Got got = expected(shape, pe.pes(), call)[static_cast<size_t>(pe.pe())];
        const int32_t count = *exchange.at<int32_t>(exchange.layout.counts);
        expect(count == static_cast<int32_t>(got.rows.size()), "call %d: %d rows instead of %zu", call, count,
               got.rows.size());
        for (size_t row = 0; row < got.rows.size(); ++row) {
          const std::vector<int64_t> wanted(got.rows[row].begin(), got.rows[row].end());
          expect(same_bytes(exchange.at<int64_t>(exchange.layout.received) + row * 3, wanted.data(), 24),
                 "call %d: row %zu is another", call, row);
        }
      }
    });
  }
}

void too_many_rows_for_an_expert_are_refused_on_all_pes_and_none_is_sent() {
  for (const bool to_experts : {true, false}) {
    run_pes(Pes{3}, [to_experts](const Pe& pe) {
      const sparkgap_rows_shape shape = {SPARKGAP_FLOAT32, to_experts ? 6 : 0, to_experts ? 1 : 0, 4, 10, 20, 0};
      const Exchange exchange(pe, shape);
      std::memset(exchange.at<uint8_t>(0), 0x55, exchange.layout.bytes);
      const std::vector<uint8_t> before(exchange.at<uint8_t>(0), exchange.at<uint8_t>(exchange.layout.bytes));
      const std::vector<float> rows(40, 1.0f);
      const auto send = [&](int32_t target, uint64_t count) {
        const std::vector<int32_t> table(10, target);
        return to_experts
                   ? sparkgap_dispatch(pe.world(), exchange.buffer, &shape, rows.data(), table.data(), nullptr, count)
                   : sparkgap_exchange_rows(pe.world(), exchange.buffer, &shape, rows.data(), table.data(), count);
      };
      // 7 from each: 21 for expert 3, which PE 1 has, or for PE 1.
      const std::string who = to_experts ? "expert 3 on PE 1 (" : "PE 1 (";
      expect_failure(pe.world(), send(to_experts ? 3 : 1, 7), SPARKGAP_INVALID_ARGUMENT,
                     {who, "would get 21 rows from all PEs together", "`capacity` is 20"});
      expect(sparkgap_last_error_pe(pe.world()) == 1, "the error is about PE %d", sparkgap_last_error_pe(pe.world()));
      pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
      expect(same_bytes(exchange.at<uint8_t>(0), before.data(), before.size()), "what was refused has been written");
      // As many as there is room for.
      pe.ok(send(to_experts ? 3 : 1, pe.pe() == 0 ? 6 : 7), "a call that fits");
      if (pe.pe() == 1) {
        expect(exchange.at<int32_t>(exchange.layout.counts)[to_experts ? 1 : 0] == 20, "not 20 rows");
      }
    });
  }
}

void what_cannot_be_is_refused_and_the_world_goes_on() {
  run_pes(Pes{2}, [](const Pe& pe) {
    sparkgap_world* world = pe.world();
    const auto refused_shape = [&](const sparkgap_rows_shape& shape, const std::vector<std::string>& parts) {
      sparkgap_rows_layout layout;
      expect_failure(world, sparkgap_rows_layout_of(world, &shape, &layout), SPARKGAP_INVALID_ARGUMENT, parts);
    };
    refused_shape(for_experts(2000, 2, 4, 8, 8), {"experts of the shape is 2000", "1024"});
    refused_shape(for_experts(4, 5, 4, 8, 8), {"top of the shape is 5", "1 to 4"});
    refused_shape(for_experts(4, 2, 0, 8, 8), {"width of the shape is 0"});
    refused_shape(for_experts(4, 2, 1ull << 62, 8, 8), {"bytes of a row"});
    refused_shape(for_experts(4, 2, 1ull << 29, 8, 8), {"bytes of a row", "more than 2147483647"});
    refused_shape(for_experts(4, 2, 4, 1ull << 31, 8), {"rows and top"});
    refused_shape(for_experts(4, 2, 4, 8, 1ull << 31), {"experts of a PE and capacity"});
    refused_shape({SPARKGAP_INT32, 4, 2, 4, 8, 8, 0}, {"are float32, not int32", "exchangeRows"});
    refused_shape({SPARKGAP_FLOAT32, 0, 2, 4, 8, 8, 0}, {"top of the shape is 2"});

    refused_shape({SPARKGAP_FLOAT32, 4, 2, 128, 8, 8, 1}, {"as float8 on GPUs"});

    const Exchange exchange(pe, for_experts(4, 2, 4, 8, 8));
    const sparkgap_rows_shape& shape = exchange.shape;
    Given mine = {8, std::vector<float>(32, 1), std::vector<int32_t>(16, 1), std::vector<float>(16, 1)};
    std::vector<float> out(32);
    const auto refused = [&](sparkgap_status status, const std::vector<std::string>& parts) {
      expect_failure(world, status, SPARKGAP_INVALID_ARGUMENT, parts);
    };
    for (const int32_t index : {4, -2}) {
      mine.indices[7] = index;
      refused(exchange.dispatch(mine), {"sends row 3 to expert " + std::to_string(index), "entry 1", "0 to 3"});
    }
    mine.indices[7] = 1;
    refused(sparkgap_dispatch(world, exchange.buffer, &shape, out.data(), mine.indices.data(), nullptr, 9),
            {"there are 9 rows", "`rows` is 8"});
    refused(sparkgap_dispatch(world, exchange.buffer, &shape, nullptr, mine.indices.data(), nullptr, 8),
            {"in is null"});
    refused(sparkgap_dispatch(world, exchange.buffer, &shape, out.data(), nullptr, nullptr, 8), {"indices is null"});
    refused(sparkgap_dispatch(world, exchange.buffer, &shape, exchange.received(0, 0), mine.indices.data(), nullptr, 1),
            {"in lies in the buffer"});
    refused(sparkgap_dispatch(world, exchange.buffer, nullptr, out.data(), mine.indices.data(), nullptr, 1),
            {"shape is null"});
    refused(sparkgap_dispatch(world, pe.allocate(64), &shape, out.data(), mine.indices.data(), nullptr, 1),
            {"not within buffer, which has 64"});
    refused(sparkgap_exchange_rows(world, exchange.buffer, &shape, out.data(), mine.indices.data(), 1),
            {"the shape has experts"});
    refused(exchange.combine(nullptr, out, 3), {"3 rows are to be combined, and the last dispatch had 0"});
    // Three rows with the weights of three: the last of these is where the first sum begins.
    std::vector<float> both(17);
    refused(sparkgap_combine(world, exchange.buffer, &shape, both.data(), both.data() + 5, 3),
            {"out and weights overlap"});
    refused(sparkgap_combine(world, exchange.buffer, &shape, both.data() + 11, both.data(), 3),
            {"out and weights overlap"});
    refused(sparkgap_combine(world, exchange.buffer, &shape, both.data(), both.data() + 6, 2),
            {"2 rows are to be combined"});
    const sparkgap_rows_shape to_pes = {SPARKGAP_FLOAT32, 0, 0, 1, 4, 4, 0};
    refused(sparkgap_dispatch(world, exchange.buffer, &to_pes, out.data(), mine.indices.data(), nullptr, 1),
            {"the shape has no experts"});
    pe.ok(sparkgap_barrier(world), "sparkgap_barrier");
  });
}

// In C a buffer can be used with several shapes; places of one are no places of another.
void a_combine_goes_with_the_last_dispatch_through_the_buffer() {
  run_pes(Pes{2}, [](const Pe& pe) {
    const Exchange exchange(pe, for_experts(4, 2, 4, 8, 32));
    const Given mine = {8, std::vector<float>(32, 1), std::vector<int32_t>(16, 1), std::vector<float>(16, 1)};
    std::vector<float> out(32);
    pe.ok(exchange.dispatch({4, std::vector<float>(16, 1), std::vector<int32_t>(8, 1), {}}), "sparkgap_dispatch");
    sparkgap_rows_shape other = exchange.shape;
    other.top = 1;
    expect_failure(pe.world(), sparkgap_combine(pe.world(), exchange.buffer, &other, nullptr, out.data(), 4),
                   SPARKGAP_INVALID_ARGUMENT, {"another shape"});
    // Rows that lie where the places were.
    const sparkgap_rows_shape to_pes = {SPARKGAP_FLOAT32, 0, 0, 4, 8, 32, 0};
    pe.ok(sparkgap_exchange_rows(pe.world(), exchange.buffer, &to_pes, mine.values.data(), mine.indices.data(), 8),
          "sparkgap_exchange_rows");
    expect_failure(pe.world(), exchange.combine(nullptr, out, 4), SPARKGAP_INVALID_ARGUMENT, {"another shape"});
    pe.ok(exchange.dispatch({8, mine.values, mine.indices, mine.weights}), "sparkgap_dispatch");
    pe.ok(exchange.combine(nullptr, out, 8), "sparkgap_combine");
  });
}

void pes_that_make_different_exchanges_are_told() {
  for (const bool check : {false, true}) {
    Pes pes{2};
    pes.check = check;
    run_pes(pes, [](const Pe& pe) {
      const Exchange exchange(pe, for_experts(4, 2, 4, 8, 9));
      sparkgap_rows_shape other = exchange.shape;
      if (pe.pe() == 1) other.capacity = 8;
      expect_failure(pe.world(), sparkgap_combine(pe.world(), exchange.buffer, &other, nullptr, nullptr, 0),
                     SPARKGAP_MISMATCH, {"combine of rows of float32 x 4, shape", "in buffer #1"});
    });
  }
}

void a_pe_that_does_not_come_is_named_at_the_deadline() {
  Pes pes{2};
  pes.peer_timeout_ms = 1000;
  run_pes(pes, [](const Pe& pe) {
    const Exchange exchange(pe, for_experts(4, 2, 4, 8, 9));
    if (pe.pe() == 1) {
      while (sparkgap_world_health(pe.world()) == SPARKGAP_OK) usleep(1000);
      return;
    }
    expect_failure(pe.world(), exchange.dispatch({0, {}, {}, {}}), SPARKGAP_TIMED_OUT, {"dispatch", "PE 1"});
  });
}

void worlds_on_several_nodes_say_what_to_use_instead() {
  run_pes(nodes_of({1, 1}), [](const Pe& pe) {
    const Exchange exchange(pe, for_experts(4, 2, 4, 8, 9));
    expect_failure(pe.world(), exchange.dispatch({0, {}, {}, {}}), SPARKGAP_UNAVAILABLE, {"dispatch", "allToAllv"});
  });
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"rows_arrive_grouped_by_expert_and_come_back_summed",
        [] { rows_arrive_grouped_by_expert_and_come_back_summed(for_experts(7, 3, 33, 40, 120)); }},
       {"so_do_rows_where_some_pes_have_no_expert",
        [] { rows_arrive_grouped_by_expert_and_come_back_summed(for_experts(2, 1, 1, 5, 15)); }},
       {"so_do_rows_of_many_experts",
        [] { rows_arrive_grouped_by_expert_and_come_back_summed(for_experts(1024, 8, 16, 100, 20)); }},
       {"a_step_exchanges_what_the_tables_hold_when_it_runs", a_step_exchanges_what_the_tables_hold_when_it_runs},
       {"rows_of_any_type_go_to_the_pe_that_is_named", rows_of_any_type_go_to_the_pe_that_is_named},
       {"too_many_rows_for_an_expert_are_refused_on_all_pes_and_none_is_sent",
        too_many_rows_for_an_expert_are_refused_on_all_pes_and_none_is_sent},
       {"what_cannot_be_is_refused_and_the_world_goes_on", what_cannot_be_is_refused_and_the_world_goes_on},
       {"a_combine_goes_with_the_last_dispatch_through_the_buffer",
        a_combine_goes_with_the_last_dispatch_through_the_buffer},
       {"pes_that_make_different_exchanges_are_told", pes_that_make_different_exchanges_are_told},
       {"a_pe_that_does_not_come_is_named_at_the_deadline", a_pe_that_does_not_come_is_named_at_the_deadline},
       {"worlds_on_several_nodes_say_what_to_use_instead", worlds_on_several_nodes_say_what_to_use_instead}});
}
