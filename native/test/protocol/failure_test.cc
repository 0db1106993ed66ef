// What happens to the other PEs when one is killed, late, gone, aborts, or makes another call. No clock is looked at: a
// wait that its deadline ended says TIMED_OUT, whatever else should have ended it before.
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "protocol/expect_failure.h"
#include "support/check.h"
#include "support/pes.h"

namespace sparkgap::test {
namespace {

// Runs PEs of which `killed` ends by SIGKILL, and all others must end well.
void run_with_one_killed(const Pes& pes, int killed, const std::function<void(const Pe&)>& body) {
  const std::string expected =
      "PE " + std::to_string(killed) + " of " + std::to_string(pes.count) + ": ended by signal Killed";
  std::string failures;
  try {
    run_pes(pes, body);
  } catch (const Failure& failure) {
    failures = failure.what();
  }
  expect(failures == expected, "expected that %s, but %s", expected.c_str(), failures.c_str());
}

void survivors_name_the_peer_that_was_killed() {
  constexpr int kKilled = 2;
  run_with_one_killed(Pes{4}, kKilled, [](const Pe& pe) {
    std::thread assassin;
    if (pe.pe() == kKilled) {
      assassin = std::thread([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        kill(getpid(), SIGKILL);
      });
    }
    std::vector<float> data(16 << 20, 1.0f);
    sparkgap_status status = SPARKGAP_OK;
    while (status == SPARKGAP_OK) {
      status = sparkgap_all_reduce(pe.world(), data.data(), data.data(), data.size(), SPARKGAP_FLOAT32, SPARKGAP_MAX);
    }
    expect_failure(pe.world(), status, SPARKGAP_PEER_LOST,
                   {"PE 2 (test PE 2", "process", "allReduce float32 x 16777216"});
    expect(sparkgap_last_error_pe(pe.world()) == kKilled, "the error is about PE %d",
           sparkgap_last_error_pe(pe.world()));
    expect_failure(pe.world(), sparkgap_barrier(pe.world()), SPARKGAP_PEER_LOST, {"PE 2"});
    expect(sparkgap_world_health(pe.world()) == SPARKGAP_PEER_LOST, "the world passes for healthy");
  });
}

// PE 0 is killed while PE 3 computes, which nobody may take for the reason.
void a_death_is_seen_by_who_waits_for_another() {
  Pes pes{4};
  pes.peer_timeout_ms = 1500;
  run_with_one_killed(pes, 0, [](const Pe& pe) {
    if (pe.pe() == 0) kill(getpid(), SIGKILL);
    if (pe.pe() == 3) {
      while (sparkgap_world_health(pe.world()) == SPARKGAP_OK) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    expect_failure(pe.world(), sparkgap_barrier(pe.world()), SPARKGAP_PEER_LOST, {"PE 0 (test PE 0", "is lost"});
    expect(sparkgap_last_error_pe(pe.world()) == 0, "the error is about PE %d", sparkgap_last_error_pe(pe.world()));
  });
}

void a_child_that_destroys_its_copy_leaves_the_world_as_it_is() {
  run_pes(Pes{2}, [](const Pe& pe) {
    if (pe.pe() == 1) {
      const pid_t child = fork();
      if (child == 0) {
        sparkgap_world_destroy(pe.world());
        std::_Exit(0);
      }
      int status = 0;
      expect(waitpid(child, &status, 0) == child && status == 0, "the child's status is %d", status);
      // Long enough that PE 0 looks whether this one is still there.
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
  });
}

cpu_set_t cpus_of_this_thread() {
  cpu_set_t cpus;
  expect(sched_getaffinity(0, sizeof cpus, &cpus) == 0, "no affinity");
  return cpus;
}

void bind_this_thread(const cpu_set_t& cpus) {
  expect(sched_setaffinity(0, sizeof cpus, &cpus) == 0, "cannot be bound");
}

// PE 0 begins each wait on the CPU of PE 1, which sleeps there, so that the scheduler has nothing to part.
void a_pe_leaves_the_cpu_of_the_one_that_it_waits_for() {
  const cpu_set_t allowed = cpus_of_this_thread();
  if (CPU_COUNT(&allowed) < 2) return;
  int shared = 0;
  while (!CPU_ISSET(shared, &allowed)) ++shared;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(shared, &one);
  run_pes(Pes{2}, [&](const Pe& pe) {
    bind_this_thread(one);
    bool left = false;
    // Once in a while something else on this machine may bring it back before it can be asked.
    for (int round = 0; round < 20; ++round) {
      pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
      if (pe.pe() == 0) bind_this_thread(one);
      if (pe.pe() == 0) bind_this_thread(allowed);
      if (pe.pe() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
      left |= sched_getcpu() != shared;
    }
    if (pe.pe() == 1) return;
    expect(left, "PE 0 stayed on the CPU of PE 1");
    const cpu_set_t after = cpus_of_this_thread();
    expect(CPU_EQUAL(&after, &allowed), "PE 0 may no longer run on all CPUs that it was allowed");
  });
}

void a_wait_for_a_signal_ends_when_its_sender_is_killed() {
  run_with_one_killed(Pes{2}, 1, [](const Pe& pe) {
    sparkgap_buffer* signals = pe.allocate(8);
    if (pe.pe() == 1) kill(getpid(), SIGKILL);
    const sparkgap_status status = sparkgap_wait_signal(pe.world(), signals, 0, SPARKGAP_NE, 0, nullptr);
    expect_failure(pe.world(), status, SPARKGAP_PEER_LOST, {"waitSignal", "PE 1 (test PE 1"});
  });
}

void what_a_peer_did_before_it_was_killed_counts() {
  run_with_one_killed(Pes{2}, 1, [](const Pe& pe) {
    std::vector<int32_t> data(1000, pe.pe() + 1);
    if (pe.pe() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    pe.ok(sparkgap_broadcast(pe.world(), data.data(), data.data(), data.size(), SPARKGAP_INT32, 1), "broadcast");
    if (pe.pe() == 1) kill(getpid(), SIGKILL);
    expect(data[999] == 2, "the data of the dead PE is %d", data[999]);
  });
}

void a_pe_without_descriptors_takes_no_peer_for_dead() {
  run_pes(Pes{2}, [](const Pe& pe) {
    if (pe.pe() == 0) {
      const rlimit none = {0, 0};
      expect(setrlimit(RLIMIT_NOFILE, &none) == 0, "the limit of descriptors cannot be set");
    } else {
      // Long enough that PE 0 looks whether this process still runs.
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
  });
}

void a_process_without_descriptors_is_told_so() {
  run_pes(Pes{2}, [](const Pe& pe) {
    const rlimit none = {0, 0};
    if (pe.pe() == 0) expect(setrlimit(RLIMIT_NOFILE, &none) == 0, "the limit of descriptors cannot be set");
    sparkgap_buffer* buffer = nullptr;
    const sparkgap_status status = sparkgap_allocate(pe.world(), 4096, &buffer);
    expect_failure(pe.world(), status, SPARKGAP_UNAVAILABLE, {"PE 0 (test PE 0", "ulimit -n", "open files"});
    pe.ok(sparkgap_barrier(pe.world()), "a barrier of the world, which is still good");
  });
}

void a_peer_that_never_calls_is_named_at_the_deadline() {
  Pes pes{3};
  pes.peer_timeout_ms = 300;
  run_pes(pes, [](const Pe& pe) {
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    if (pe.pe() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(800));
      expect_failure(pe.world(), sparkgap_barrier(pe.world()), SPARKGAP_TIMED_OUT, {"PE 1 (test PE 1"});
      return;
    }
    const double in = 1;
    double out = 0;
    const sparkgap_status status = sparkgap_all_reduce(pe.world(), &in, &out, 1, SPARKGAP_FLOAT64, SPARKGAP_SUM);
    expect_failure(pe.world(), status, SPARKGAP_TIMED_OUT,
                   {"call #3 allReduce float64 x 1 SUM", " s for PE 1 (test PE 1", "call #2 barrier", "returned",
                    "epoch 1", "(spark.sparkgap.peer.timeout)"});
    expect(sparkgap_last_error_pe(pe.world()) == 1, "the error is about PE %d", sparkgap_last_error_pe(pe.world()));
  });
}

void an_abort_ends_every_wait_at_once(Placement placement) {
  run_pes(Pes{4, placement}, [](const Pe& pe) {
    // PE 3 never calls; PE 0 is itself inside a call when another of its threads aborts.
    std::thread other;
    if (pe.pe() == 0) {
      other = std::thread([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        sparkgap_world_abort(pe.world(), "the task was cancelled");
        sparkgap_world_abort(pe.world(), "a second reason");
      });
    }
    if (pe.pe() != 3) {
      const sparkgap_status status = sparkgap_barrier(pe.world());
      expect_failure(pe.world(), status, SPARKGAP_ABORTED, {"the task was cancelled"});
    } else {
      while (sparkgap_world_health(pe.world()) == SPARKGAP_OK) std::this_thread::yield();
    }
    if (other.joinable()) other.join();
    expect_failure(pe.world(), sparkgap_barrier(pe.world()), SPARKGAP_ABORTED, {"the task was cancelled"});
    expect_failure(pe.world(), sparkgap_world_health(pe.world()), SPARKGAP_ABORTED, {"the task was cancelled"});
    expect(pe.pe() == 0 || sparkgap_last_error_pe(pe.world()) == 0, "the error is about PE %d",
           sparkgap_last_error_pe(pe.world()));
  });
}

void a_peer_that_closed_its_world_is_named() {
  run_pes(Pes{2}, [](const Pe& pe) {
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    if (pe.pe() == 1) return;
    expect_failure(pe.world(), sparkgap_barrier(pe.world()), SPARKGAP_PEER_LOST, {"PE 1", "closed its end"});
  });
}

void a_wait_for_a_signal_ends_when_all_others_have_closed_their_world() {
  run_pes(Pes{3}, [](const Pe& pe) {
    sparkgap_buffer* signals = pe.allocate(8);
    if (pe.pe() != 0) return;
    const sparkgap_status status = sparkgap_wait_signal(pe.world(), signals, 0, SPARKGAP_NE, 0, nullptr);
    expect_failure(pe.world(), status, SPARKGAP_PEER_LOST, {"waitSignal", "closed its end"});
  });
}

void a_wait_for_a_signal_outlasts_peers_that_leave_before_the_sender() {
  run_pes(Pes{3}, [](const Pe& pe) {
    sparkgap_buffer* signals = pe.allocate(8);
    if (pe.pe() == 1) return;
    if (pe.pe() == 2) {
      // Long enough that PE 1 is gone and PE 0 has looked around.
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      pe.ok(sparkgap_signal(pe.world(), signals, 0, 7, SPARKGAP_SIGNAL_SET, 0), "sparkgap_signal");
      return;
    }
    int64_t observed = 0;
    pe.ok(sparkgap_wait_signal(pe.world(), signals, 0, SPARKGAP_NE, 0, &observed), "sparkgap_wait_signal");
    expect(observed == 7, "the signal is %ld", observed);
  });
}

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
    pes.peer_timeout_ms = 2000;
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

void a_buffer_of_an_aborted_world_is_freed_without_a_wait() {
  run_pes(Pes{2}, [](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(1 << 20);
    if (pe.pe() == 0) sparkgap_world_abort(pe.world(), "enough");
    while (sparkgap_world_health(pe.world()) == SPARKGAP_OK) std::this_thread::yield();
    if (pe.pe() == 0) pe.ok(sparkgap_free(pe.world(), buffer), "free");
  });
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"survivors_name_the_peer_that_was_killed", survivors_name_the_peer_that_was_killed},
       {"a_death_is_seen_by_who_waits_for_another", a_death_is_seen_by_who_waits_for_another},
       {"a_child_that_destroys_its_copy_leaves_the_world_as_it_is",
        a_child_that_destroys_its_copy_leaves_the_world_as_it_is},
       {"a_pe_leaves_the_cpu_of_the_one_that_it_waits_for", a_pe_leaves_the_cpu_of_the_one_that_it_waits_for},
       {"a_wait_for_a_signal_ends_when_its_sender_is_killed", a_wait_for_a_signal_ends_when_its_sender_is_killed},
       {"what_a_peer_did_before_it_was_killed_counts", what_a_peer_did_before_it_was_killed_counts},
       {"a_pe_without_descriptors_takes_no_peer_for_dead", a_pe_without_descriptors_takes_no_peer_for_dead},
       {"a_process_without_descriptors_is_told_so", a_process_without_descriptors_is_told_so},
       {"a_peer_that_never_calls_is_named_at_the_deadline", a_peer_that_never_calls_is_named_at_the_deadline},
       {"an_abort_ends_every_wait_of_processes", [] { an_abort_ends_every_wait_at_once(Placement::kProcesses); }},
       {"an_abort_ends_every_wait_of_threads", [] { an_abort_ends_every_wait_at_once(Placement::kThreads); }},
       {"a_peer_that_closed_its_world_is_named", a_peer_that_closed_its_world_is_named},
       {"a_wait_for_a_signal_ends_when_all_others_have_closed_their_world",
        a_wait_for_a_signal_ends_when_all_others_have_closed_their_world},
       {"a_wait_for_a_signal_outlasts_peers_that_leave_before_the_sender",
        a_wait_for_a_signal_outlasts_peers_that_leave_before_the_sender},
       {"different_calls_are_told_with_both", [] { different_calls_are_told_with_both(false); }},
       {"checked_calls_are_told_before_data_moves", [] { different_calls_are_told_with_both(true); }},
       {"differing_block_sizes_of_an_all_to_allv_are_told", differing_block_sizes_of_an_all_to_allv_are_told},
       {"differing_sizes_of_a_symmetric_buffer_are_told", differing_sizes_of_a_symmetric_buffer_are_told},
       {"buffers_that_are_freed_in_another_order_are_told", buffers_that_are_freed_in_another_order_are_told},
       {"different_algorithms_are_told", different_algorithms_are_told},
       {"a_call_that_a_pe_does_not_make_is_told_when_its_function_has_ended",
        a_call_that_a_pe_does_not_make_is_told_when_its_function_has_ended},
       {"a_wait_for_a_signal_ends_when_all_other_functions_have",
        a_wait_for_a_signal_ends_when_all_other_functions_have},
       {"a_buffer_of_an_aborted_world_is_freed_without_a_wait", a_buffer_of_an_aborted_world_is_freed_without_a_wait}});
}
