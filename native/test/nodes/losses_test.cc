// Worlds on several hosts: what is seen when a PE, a host or a cable goes away, and when PEs do not do the same.
// Run within tools/hosts/hosts.py --hosts 3 run.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "nodes/worlds.h"
#include "protocol/expect_failure.h"
#include "support/check.h"
#include "support/hosts.h"
#include "support/pes.h"

namespace sparkgap::test {
namespace {

void expect_world_ends(const Pe& pe, sparkgap_status expected, int about, const char* word) {
  sparkgap_status status = SPARKGAP_OK;
  std::vector<float> values(100);
  while (status == SPARKGAP_OK) {
    status =
        sparkgap_all_reduce(pe.world(), values.data(), values.data(), values.size(), SPARKGAP_FLOAT32, SPARKGAP_SUM);
  }
  const std::string said = sparkgap_last_error(pe.world());
  expect(status == expected, "PE %d: status %d: %s", pe.pe(), status, said.c_str());
  expect(about < 0 || sparkgap_last_error_pe(pe.world()) == about, "PE %d: it is about PE %d: %s", pe.pe(),
         sparkgap_last_error_pe(pe.world()), said.c_str());
  expect(said.find(word) != std::string::npos, "PE %d: no \"%s\" in: %s", pe.pe(), word, said.c_str());
}

// Its own failure is the test's, not a PE's.
void run_until_one_is_gone(Pes pes, int gone, const std::function<void(const Pe&)>& body) {
  std::string problem;
  try {
    run_pes(pes, body);
  } catch (const std::exception& e) {
    problem = e.what();
  }
  const std::string killed = "PE " + std::to_string(gone) + " of " + std::to_string(pes.count) + ": e";
  expect(problem.find(killed) == 0 && problem.find('\n') == std::string::npos, "%s", problem.c_str());
}

void survivors_name_the_pe_that_was_killed() {
  run_until_one_is_gone(pes_on({2, 2}), 3, [](const Pe& pe) {
    expect_sum(pe, 1, 4);
    if (pe.pe() == 3) raise(SIGKILL);
    expect_world_ends(pe, SPARKGAP_PEER_LOST, 3, "test PE 3");
  });
}

void survivors_name_the_host_that_vanished() {
  const Shared<std::atomic<int>> done;
  Pes pes = pes_on({2, 1});
  run_until_one_is_gone(pes, 2, [&](const Pe& pe) {
    expect_sum(pe, 1, 3);
    if (pe.pe() == 2) {
      while (done[0].load() < 2) usleep(1000);
      raise(SIGKILL);
    }
    if (pe.pe() == 0) set_own_link(false);
    expect_world_ends(pe, SPARKGAP_PEER_LOST, 2, "on host1");
    if (pe.pe() == 0) set_own_link(true);
    ++done[0];
  });
}

void an_abort_ends_all_nodes() {
  const Shared<std::atomic<int>> through;
  run_pes(pes_on({2, 2}), [&](const Pe& pe) {
    expect_sum(pe, 1, 4);
    through->fetch_add(1);
    if (pe.pe() == 1) {
      // An abort also ends the call that another PE has not come out of yet.
      while (through->load() < 4) usleep(100);
      sparkgap_world_abort(pe.world(), "enough of it");
      return;
    }
    expect_world_ends(pe, SPARKGAP_ABORTED, 1, "PE 1 (test PE 1) ended the world: enough of it");
  });
}

void a_pe_that_does_not_come_is_named() {
  Pes pes = pes_on({1, 2});
  pes.peer_timeout_ms = 2000;
  const Shared<std::atomic<int>> done;
  run_pes(pes, [&](const Pe& pe) {
    expect_sum(pe, 1, 3);
    if (pe.pe() == 0) {
      expect_world_ends(pe, SPARKGAP_TIMED_OUT, -1, "whose last call was call #");
      done[0] = 1;
    } else {
      while (done[0].load() == 0) usleep(1000);
    }
  });
}

void other_calls_are_told_apart() {
  run_pes(pes_on({1, 1}), [](const Pe& pe) {
    std::vector<float> values(100);
    const uint64_t count = pe.pe() == 0 ? 100 : 50;
    const sparkgap_status status =
        sparkgap_all_reduce(pe.world(), values.data(), values.data(), count, SPARKGAP_FLOAT32, SPARKGAP_SUM);
    const std::string said = sparkgap_last_error(pe.world());
    expect(status == SPARKGAP_MISMATCH, "status %d: %s", status, said.c_str());
    // Whoever tells: both PEs and both calls.
    for (const char* part :
         {"PE 0 (test PE 0) made call #", "PE 1 (test PE 1) made call #", "float32 x 100 SUM", "float32 x 50 SUM"}) {
      expect(said.find(part) != std::string::npos, "PE %d: no \"%s\" in: %s", pe.pe(), part, said.c_str());
    }
  });
}

// What connecting says where PEs of three nodes have other options than the rest.
void different_options_are_refused_by_name() {
  struct Case {
    void (*spoil)(sparkgap_world_options& options);
    std::vector<const char*> parts;
  };
  const std::vector<Case> cases = {
      {[](sparkgap_world_options& options) { options.check = 1; }, {"check (spark.sparkgap.check)", "on on PE 2"}},
      // All three look at the same time, and the first to see it speaks, of itself first.
      {[](sparkgap_world_options& options) { options.peer_timeout_ms += 7; },
       {"spark.sparkgap.peer.timeout", "20007 on PE 2", "20000 on PE "}}};
  for (const Case& spoiled : cases) {
    Pes pes = pes_on({1, 1, 1});
    pes.spoil_options = [&](int pe, sparkgap_world_options& options) {
      if (pe == 2) spoiled.spoil(options);
    };
    std::string problem;
    try {
      run_pes(pes, [](const Pe&) {});
    } catch (const std::exception& e) {
      problem = e.what();
    }
    for (const char* part : spoiled.parts) {
      expect(problem.find(part) != std::string::npos, "no \"%s\" in: %s", part, problem.c_str());
    }
  }
}

// The others' calls fail no more than that: their results are there.
void who_leaves_is_no_loss() {
  run_pes(pes_on({1, 2}), [](const Pe& pe) {
    for (int i = 0; i < 200; ++i) expect_sum(pe, 1, 3);
    if (pe.pe() == 2) usleep(200000);
  });
}

void a_cable_out_for_two_seconds_delays() {
  run_pes(pes_on({1, 1}), [](const Pe& pe) {
    for (int i = 0; i < 50; ++i) {
      expect_sum(pe, 1, 2);
      if (i == 20 && pe.pe() == 0) {
        set_own_link(false);
        usleep(2000000);
        set_own_link(true);
      }
    }
  });
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(argc, argv,
                   {{"survivors_name_the_pe_that_was_killed", survivors_name_the_pe_that_was_killed},
                    {"survivors_name_the_host_that_vanished", survivors_name_the_host_that_vanished},
                    {"an_abort_ends_all_nodes", an_abort_ends_all_nodes},
                    {"a_pe_that_does_not_come_is_named", a_pe_that_does_not_come_is_named},
                    {"other_calls_are_told_apart", other_calls_are_told_apart},
                    {"different_options_are_refused_by_name", different_options_are_refused_by_name},
                    {"who_leaves_is_no_loss", who_leaves_is_no_loss},
                    {"a_cable_out_for_two_seconds_delays", a_cable_out_for_two_seconds_delays}});
}
