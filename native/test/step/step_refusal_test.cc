// What cannot be recorded, what a step keeps from being done, and what its run says that goes wrong.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "protocol/expect_failure.h"
#include "step/steps.h"
#include "support/check.h"

namespace sparkgap::test {
namespace {

void what_cannot_be_recorded_is_refused_by_name_and_the_recording_goes_on() {
  for (const Pes& pes : worlds()) {
    run_pes(pes, [](const Pe& pe) {
      sparkgap_world* world = pe.world();
      sparkgap_buffer* buffer = pe.allocate(64);
      float value = 1;
      int64_t word = 0;
      sparkgap_step* other = record(pe, [] {});
      sparkgap_step* step = record(pe, [&] {
        const auto refused = [&](sparkgap_status status, const std::vector<std::string>& parts) {
          expect_failure(world, status, SPARKGAP_INVALID_ARGUMENT, parts);
        };
        sparkgap_buffer* made = nullptr;
        sparkgap_event* event = nullptr;
        refused(sparkgap_allocate(world, 8, &made), {"allocate cannot be part of a step", "step 2 is being recorded"});
        refused(sparkgap_free(world, buffer), {"free cannot be part of a step"});
        refused(sparkgap_synchronize(world), {"synchronize cannot be part of a step"});
        refused(sparkgap_world_finish(world), {"finish cannot be part of a step"});
        refused(sparkgap_event_create(world, &event), {"event", "cannot be part of a step"});
        refused(sparkgap_world_set_stream(world, nullptr), {"stream", "cannot be part of a step"});
        refused(sparkgap_step_begin(world), {"a step cannot be part of a step"});
        refused(sparkgap_step_run(world, other), {"the run of another step cannot be part of a step"});
        refused(sparkgap_wait_signal(world, buffer, 0, SPARKGAP_EQ, 0, &word), {"waitSignal", "NULL"});
        refused(sparkgap_fetch_add(world, buffer, 0, 1, 0, &word), {"fetchAdd", "NULL"});
        refused(sparkgap_all_reduce(world, &value, nullptr, 1, SPARKGAP_FLOAT32, SPARKGAP_SUM), {"out is null"});
        refused(sparkgap_put(world, buffer, 60, &word, 8, 0), {"not within dst"});
        sum(pe, &value, 1);
      });
      expect(sparkgap_step_calls(step) == 1, "what was refused is part of the step");
      run(pe, step);
      expect(value == static_cast<float>(pe.pes()), "the sum is %g", static_cast<double>(value));
      pe.ok(sparkgap_free(world, buffer), "free");
      pe.ok(sparkgap_barrier(world), "barrier");
    });
  }
}

void calls_of_another_thread_are_not_recorded() {
  run_pes(Pes{2}, [](const Pe& pe) {
    float value = 1;
    sparkgap_step* step = record(pe, [&] {
      std::thread([&] {
        const sparkgap_status status =
            sparkgap_all_reduce(pe.world(), &value, &value, 1, SPARKGAP_FLOAT32, SPARKGAP_SUM);
        expect_failure(pe.world(), status, SPARKGAP_INVALID_ARGUMENT, {"step 1", "another thread"});
        sparkgap_step* ended = nullptr;
        expect_failure(pe.world(), sparkgap_step_end(pe.world(), &ended), SPARKGAP_INVALID_ARGUMENT,
                       {"another thread"});
        expect_failure(pe.world(), sparkgap_step_drop(pe.world()), SPARKGAP_INVALID_ARGUMENT, {"another thread"});
      }).join();
      sum(pe, &value, 1);
    });
    run(pe, step);
    expect(sparkgap_step_calls(step) == 1 && value == 2, "the other thread's call is part of the step");
  });
}

void a_recording_that_is_dropped_leaves_nothing() {
  for (const Pes& pes : worlds()) {
    run_pes(pes, [](const Pe& pe) {
      sparkgap_world* world = pe.world();
      sparkgap_buffer* buffer = pe.allocate(64);
      auto* values = static_cast<float*>(sparkgap_buffer_address(buffer));
      sparkgap_step* step = nullptr;
      expect_failure(world, sparkgap_step_drop(world), SPARKGAP_INVALID_ARGUMENT, {"no step is being recorded"});
      expect_failure(world, sparkgap_step_end(world, &step), SPARKGAP_INVALID_ARGUMENT, {"no step is being recorded"});
      pe.ok(sparkgap_step_begin(world), "begin");
      sum(pe, values, 4);
      pe.ok(sparkgap_step_drop(world), "drop");
      values[0] = 1;
      sum(pe, values, 4);
      expect(values[0] == static_cast<float>(pe.pes()), "the sum is %g", static_cast<double>(values[0]));
      pe.ok(sparkgap_free(world, buffer), "free");
      pe.ok(sparkgap_step_begin(world), "begin, until the world ends");
    });
  }
}

void a_buffer_that_a_step_uses_is_not_freed_before_the_step() {
  for (const Pes& pes : worlds()) {
    run_pes(pes, [](const Pe& pe) {
      sparkgap_world* world = pe.world();
      sparkgap_buffer* in = pe.allocate(64);
      sparkgap_buffer* out = pe.allocate(64);
      sparkgap_buffer* target = pe.allocate(64);
      sparkgap_buffer* unused = pe.allocate(64);
      float own[16] = {};
      auto* from = static_cast<float*>(sparkgap_buffer_address(in)) + 8;
      const auto calls = [&] {
        pe.ok(sparkgap_all_reduce(world, from, sparkgap_buffer_address(out), 8, SPARKGAP_FLOAT32, SPARKGAP_SUM), "sum");
        pe.ok(sparkgap_put(world, target, 0, own, 64, pe.pe()), "put");
        pe.ok(sparkgap_signal(world, target, 8, 1, SPARKGAP_SIGNAL_SET, pe.pe()), "signal");
      };
      sparkgap_step* first = record(pe, calls);
      sparkgap_step* second = record(pe, calls);
      pe.ok(sparkgap_free(world, unused), "free of what no step uses");
      for (sparkgap_buffer* buffer : {in, out, target}) {
        expect_failure(world, sparkgap_free(world, buffer), SPARKGAP_INVALID_ARGUMENT,
                       {"buffer #", "is used by step 1 and others", "close the step first"});
      }
      run(pe, first);
      pe.ok(sparkgap_step_destroy(world, first), "destroy");
      expect_failure(world, sparkgap_free(world, in), SPARKGAP_INVALID_ARGUMENT, {"is used by step 2:"});
      run(pe, second);
      pe.ok(sparkgap_step_destroy(world, second), "destroy");
      for (sparkgap_buffer* buffer : {in, out, target}) pe.ok(sparkgap_free(world, buffer), "free");
      pe.ok(sparkgap_barrier(world), "barrier");
    });
  }
}

void steps_that_are_not_this_worlds_are_refused() {
  run_pes(threads(1), [](const Pe& pe) {
    sparkgap_step* foreign = record(pe, [] {});
    run_pes(threads(1), [&](const Pe& other) {
      expect_failure(other.world(), sparkgap_step_run(other.world(), foreign), SPARKGAP_INVALID_ARGUMENT,
                     {"another world"});
      expect_failure(other.world(), sparkgap_step_destroy(other.world(), foreign), SPARKGAP_INVALID_ARGUMENT,
                     {"not one of this world"});
      expect_failure(other.world(), sparkgap_step_run(other.world(), nullptr), SPARKGAP_INVALID_ARGUMENT,
                     {"step is null"});
      expect_failure(other.world(), sparkgap_step_end(other.world(), nullptr), SPARKGAP_INVALID_ARGUMENT,
                     {"step is null"});
    });
    run(pe, foreign);
  });
}

// ---- What goes wrong

void pes_that_recorded_different_steps_are_told() {
  for (const bool check : {false, true}) {
    for (Pes pes : {Pes{2}, nodes_of({1, 1})}) {
      pes.check = check;
      run_pes(pes, [](const Pe& pe) {
        std::vector<float> values(200);
        sparkgap_step* step = record(pe, [&] {
          for (int i = 0; i < 3; ++i) sum(pe, values.data(), 100);
          sum(pe, values.data(), pe.pe() == 0 ? 100 : 200);
          sum(pe, values.data(), 100);
        });
        const std::string own = "allReduce float32 x " + std::string(pe.pe() == 0 ? "100" : "200");
        const std::vector<std::string> parts = {"call 4 of 5, " + own + " SUM, of step 1: ", "allReduce float32 x 100",
                                                "allReduce float32 x 200"};
        expect_failure(pe.world(), sparkgap_step_run(pe.world(), step), SPARKGAP_MISMATCH, parts);
      });
    }
  }
}

void a_late_pe_is_named_with_the_call_of_the_step_that_waits_for_it() {
  for (Pes pes : {Pes{2}, nodes_of({1, 1})}) {
    pes.peer_timeout_ms = 1000;
    run_pes(pes, [](const Pe& pe) {
      sparkgap_buffer* buffer = pe.allocate(64);
      float value = 1;
      sparkgap_step* step = record(pe, [&] {
        sum(pe, &value, 1);
        pe.ok(sparkgap_wait_signal(pe.world(), buffer, 0, SPARKGAP_EQ, 0, nullptr), "wait_signal");
        pe.ok(sparkgap_barrier(pe.world()), "barrier");
      });
      if (pe.pe() == 1) {
        sum(pe, &value, 1);
        while (sparkgap_world_health(pe.world()) == SPARKGAP_OK) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return;
      }
      expect_failure(pe.world(), sparkgap_step_run(pe.world(), step), SPARKGAP_TIMED_OUT,
                     {"call 3 of 3, barrier, of step 1: ", "PE 1"});
      expect_failure(pe.world(), sparkgap_step_run(pe.world(), step), SPARKGAP_TIMED_OUT, {"PE 1"});
    });
  }
}

void an_abort_ends_a_step_in_the_call_that_it_is_in() {
  for (const Pes& pes : {Pes{2}, nodes_of({1, 1})}) {
    run_pes(pes, [](const Pe& pe) {
      sparkgap_buffer* buffer = pe.allocate(64);
      sparkgap_step* step = record(pe, [&] {
        pe.ok(sparkgap_barrier(pe.world()), "barrier");
        pe.ok(sparkgap_wait_signal(pe.world(), buffer, 8, SPARKGAP_EQ, 7, nullptr), "wait_signal");
      });
      if (pe.pe() == 1) {
        pe.ok(sparkgap_barrier(pe.world()), "barrier");
        sparkgap_world_abort(pe.world(), "enough of it");
        return;
      }
      expect_failure(pe.world(), sparkgap_step_run(pe.world(), step), SPARKGAP_ABORTED,
                     {"call 2 of 2, waitSignal, of step 1: ", "enough of it"});
      pe.ok(sparkgap_step_destroy(pe.world(), step), "destroy");
    });
  }
}

void an_abort_ends_a_recording() {
  const Shared<std::atomic<int>> recording;
  run_pes(Pes{2}, [&](const Pe& pe) {
    float value = 1;
    pe.ok(sparkgap_step_begin(pe.world()), "begin");
    sum(pe, &value, 1);
    // Both before one of them aborts.
    recording->fetch_add(1);
    while (recording->load() < 2) std::this_thread::yield();
    sparkgap_world_abort(pe.world(), "enough of it");
    expect_failure(pe.world(), sparkgap_all_reduce(pe.world(), &value, &value, 1, SPARKGAP_FLOAT32, SPARKGAP_SUM),
                   SPARKGAP_ABORTED, {"enough of it"});
    sparkgap_step* step = nullptr;
    expect_failure(pe.world(), sparkgap_step_end(pe.world(), &step), SPARKGAP_ABORTED, {"enough of it"});
    expect(step == nullptr, "a step of an aborted world");
  });
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(argc, argv,
                   {{"what_cannot_be_recorded_is_refused_by_name_and_the_recording_goes_on",
                     what_cannot_be_recorded_is_refused_by_name_and_the_recording_goes_on},
                    {"calls_of_another_thread_are_not_recorded", calls_of_another_thread_are_not_recorded},
                    {"a_recording_that_is_dropped_leaves_nothing", a_recording_that_is_dropped_leaves_nothing},
                    {"a_buffer_that_a_step_uses_is_not_freed_before_the_step",
                     a_buffer_that_a_step_uses_is_not_freed_before_the_step},
                    {"steps_that_are_not_this_worlds_are_refused", steps_that_are_not_this_worlds_are_refused},
                    {"pes_that_recorded_different_steps_are_told", pes_that_recorded_different_steps_are_told},
                    {"a_late_pe_is_named_with_the_call_of_the_step_that_waits_for_it",
                     a_late_pe_is_named_with_the_call_of_the_step_that_waits_for_it},
                    {"an_abort_ends_a_step_in_the_call_that_it_is_in", an_abort_ends_a_step_in_the_call_that_it_is_in},
                    {"an_abort_ends_a_recording", an_abort_ends_a_recording}});
}
