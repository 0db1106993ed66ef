// What is said when PEs do not make the same calls: other ones, others of their kind, or fewer. No clock is looked at.
#include <sys/types.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "protocol/expect_failure.h"
#include "support/check.h"
#include "support/pes.h"

namespace sparkgap::test {
namespace {

struct Mismatch {
  const char* name;
  std::function<sparkgap_status(const Pe&, float*)> calls[2];
  std::vector<std::string> parts;
};

std::vector<Mismatch> mismatches() {
  const auto all_reduce = [](uint64_t count, int32_t type, int32_t op) {
    return [=](const Pe& pe, float* data) { return sparkgap_all_reduce(pe.world(), data, data, count, type, op); };
  };
  const auto reduce = [](int32_t root) {
    return [=](const Pe& pe, float* data) {
      return sparkgap_reduce(pe.world(), data, data, 4000, SPARKGAP_FLOAT32, SPARKGAP_SUM, root);
    };
  };
  const auto broadcast = [](int32_t root) {
    return [=](const Pe& pe, float* data) {
      return sparkgap_broadcast(pe.world(), data, data, 4000, SPARKGAP_FLOAT32, root);
    };
  };
  const auto barrier = [](const Pe& pe, float*) { return sparkgap_barrier(pe.world()); };
  const auto nothing = all_reduce(0, SPARKGAP_FLOAT32, SPARKGAP_SUM);
  const auto small = all_reduce(10, SPARKGAP_FLOAT32, SPARKGAP_SUM);
  const auto large = all_reduce(500000, SPARKGAP_FLOAT32, SPARKGAP_SUM);
  return {
      {"counts", {small, all_reduce(11, SPARKGAP_FLOAT32, SPARKGAP_SUM)}, {"float32 x 10 SUM", "float32 x 11 SUM"}},
      {"types", {small, all_reduce(10, SPARKGAP_INT32, SPARKGAP_SUM)}, {"float32 x 10 SUM", "int32 x 10 SUM"}},
      {"operations", {small, all_reduce(10, SPARKGAP_FLOAT32, SPARKGAP_MAX)}, {"x 10 SUM", "x 10 MAX"}},
      {"sizes that take other algorithms", {small, large}, {"float32 x 10 SUM", "float32 x 500000 SUM"}},
      {"collectives", {large, barrier}, {"allReduce float32 x 500000 SUM", "barrier"}},
      {"roots", {reduce(0), reduce(1)}, {"to PE 0", "to PE 1"}},
      {"roots that wait for nobody", {broadcast(0), broadcast(1)}, {"from PE 0", "from PE 1"}},
      {"nothing and something", {nothing, small}, {"float32 x 0 SUM", "float32 x 10 SUM"}},
  };
}

void different_calls_are_told_with_both(bool check) {
  for (const Mismatch& mismatch : mismatches()) {
    Pes pes{2};
    pes.check = check;
    try {
      run_pes(pes, [&](const Pe& pe) {
        std::vector<float> data(500000, 3.0f);
        // A call that asks nothing of its peers may return before the difference shows; the next one may not.
        sparkgap_status status = mismatch.calls[pe.pe()](pe, data.data());
        if (!check && status == SPARKGAP_OK) status = sparkgap_barrier(pe.world());
        std::vector<std::string> parts = mismatch.parts;
        parts.push_back("call #");
        expect_failure(pe.world(), status, SPARKGAP_MISMATCH, parts);
        expect(sparkgap_last_error_pe(pe.world()) == 1 - pe.pe(), "the error is about PE %d",
               sparkgap_last_error_pe(pe.world()));
        for (const float value : data) expect(value == 3.0f, "data was written: %f", value);
      });
    } catch (const Failure& failure) {
      throw Failure(std::string(mismatch.name) + ": " + failure.what());
    }
  }
}

void differing_block_sizes_of_an_all_to_allv_are_told() {
  run_pes(Pes{2}, [](const Pe& pe) {
    const uint64_t send[2] = {1, 5};
    const uint64_t receive[2] = {1, pe.pe() == 0 ? uint64_t{1} : uint64_t{4}};
    const uint64_t receive_of_1[2] = {4, 5};
    const uint64_t offsets[2] = {0, 10};
    int32_t in[20] = {};
    int32_t out[20] = {};
    const sparkgap_status status = sparkgap_all_to_allv(pe.world(), in, send, offsets, out,
                                                        pe.pe() == 0 ? receive : receive_of_1, offsets, SPARKGAP_INT32);
    expect_failure(pe.world(), status, SPARKGAP_MISMATCH, {"PE 0", "PE 1", "sends 5 elements", "expects 4"});
  });
}

void differing_sizes_of_a_symmetric_buffer_are_told() {
  run_pes(Pes{2}, [](const Pe& pe) {
    sparkgap_buffer* buffer = nullptr;
    const uint64_t bytes = pe.pe() == 0 ? 4096 : 8192;
    const sparkgap_status status = sparkgap_allocate(pe.world(), bytes, &buffer);
    expect_failure(pe.world(), status, SPARKGAP_MISMATCH, {"allocate 4096 bytes", "allocate 8192 bytes"});
    expect(buffer == nullptr, "there is a buffer all the same");
  });
}

void buffers_that_are_freed_in_another_order_are_told() {
  run_pes(Pes{2}, [](const Pe& pe) {
    sparkgap_buffer* buffers[2] = {pe.allocate(4096), pe.allocate(4096)};
    sparkgap_buffer* left = pe.allocate(65536);
    for (const int i : {0, 1}) pe.ok(sparkgap_free(pe.world(), buffers[pe.pe() == 0 ? i : 1 - i]), "sparkgap_free");
    int32_t* memory = static_cast<int32_t*>(sparkgap_buffer_address(left));
    const sparkgap_status status = sparkgap_all_gather(pe.world(), memory + 1000, memory, 10, SPARKGAP_INT32);
    expect_failure(pe.world(), status, SPARKGAP_MISMATCH, {"free 4096 bytes of buffer #1", "of buffer #2"});
  });
}

void different_algorithms_are_told() {
  run_pes(Pes{2}, [](const Pe& pe) {
    pe.ok(sparkgap_world_set_algorithm(pe.world(), SPARKGAP_ALL_REDUCE, pe.pe() == 0 ? "one-shot" : "two-shot"),
          "sparkgap_world_set_algorithm");
    std::vector<float> data(20000, 1.0f);
    const sparkgap_status status =
        sparkgap_all_reduce(pe.world(), data.data(), data.data(), data.size(), SPARKGAP_FLOAT32, SPARKGAP_SUM);
    expect_failure(pe.world(), status, SPARKGAP_MISMATCH,
                   {"allReduce float32 x 20000 SUM by one-shot", "allReduce float32 x 20000 SUM by two-shot"});
  });
}

void a_call_that_a_pe_does_not_make_is_told_when_its_function_has_ended() {
  run_pes(Pes{3}, [](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(4096);
    // A run that all end alike, with a buffer left over, and one in which PE 1 has a row less.
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    pe.ok(sparkgap_world_finish(pe.world()), "finish");
    pe.ok(sparkgap_free(pe.world(), buffer), "free");
    sparkgap_buffer* memory = pe.allocate(4096);
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    if (pe.pe() == 1) {
      pe.ok(sparkgap_world_finish(pe.world()), "finish");
      while (sparkgap_world_health(pe.world()) == SPARKGAP_OK) std::this_thread::yield();
      return;
    }
    const int64_t value = 7;
    pe.ok(sparkgap_put(pe.world(), memory, 8 * static_cast<uint64_t>(pe.pe()), &value, 8, 1),
          "put to a PE that has ended");
    const sparkgap_status status = sparkgap_barrier(pe.world());
    expect_failure(pe.world(), status, SPARKGAP_MISMATCH,
                   {"call #7 barrier", "PE 1 (test PE 1", "made 2 calls and returned", "different numbers of rows"});
  });
}

void a_wait_for_a_signal_ends_when_all_other_functions_have() {
  run_pes(Pes{3}, [](const Pe& pe) {
    sparkgap_buffer* signals = pe.allocate(16);
    if (pe.pe() == 1) pe.ok(sparkgap_signal(pe.world(), signals, 0, 7, SPARKGAP_SIGNAL_SET, 0), "sparkgap_signal");
    if (pe.pe() != 0) {
      pe.ok(sparkgap_world_finish(pe.world()), "finish");
      while (sparkgap_world_health(pe.world()) == SPARKGAP_OK) std::this_thread::yield();
      return;
    }
    pe.ok(sparkgap_wait_signal(pe.world(), signals, 0, SPARKGAP_EQ, 7, nullptr), "a signal of a PE that has ended");
    const sparkgap_status status = sparkgap_wait_signal(pe.world(), signals, 8, SPARKGAP_NE, 0, nullptr);
    expect_failure(pe.world(), status, SPARKGAP_MISMATCH, {"waitSignal", "has ended", "made 1 call and returned"});
  });
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"different_calls_are_told_with_both", [] { different_calls_are_told_with_both(false); }},
       {"checked_calls_are_told_before_data_moves", [] { different_calls_are_told_with_both(true); }},
       {"differing_block_sizes_of_an_all_to_allv_are_told", differing_block_sizes_of_an_all_to_allv_are_told},
       {"differing_sizes_of_a_symmetric_buffer_are_told", differing_sizes_of_a_symmetric_buffer_are_told},
       {"buffers_that_are_freed_in_another_order_are_told", buffers_that_are_freed_in_another_order_are_told},
       {"different_algorithms_are_told", different_algorithms_are_told},
       {"a_call_that_a_pe_does_not_make_is_told_when_its_function_has_ended",
        a_call_that_a_pe_does_not_make_is_told_when_its_function_has_ended},
       {"a_wait_for_a_signal_ends_when_all_other_functions_have",
        a_wait_for_a_signal_ends_when_all_other_functions_have}});
}
