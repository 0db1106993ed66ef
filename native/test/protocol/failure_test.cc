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
  run_with_one_killed(Pes{4}, 0, [](const Pe& pe) {
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
  pes.peer_timeout_ms = 1000;
  run_pes(pes, [](const Pe& pe) {
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    if (pe.pe() == 1) {
      while (sparkgap_world_health(pe.world()) == SPARKGAP_OK) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
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
       {"a_buffer_of_an_aborted_world_is_freed_without_a_wait", a_buffer_of_an_aborted_world_is_freed_without_a_wait}});
}
