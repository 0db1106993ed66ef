#include "support/pes.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "support/check.h"
#include "support/hosts.h"

namespace sparkgap::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kFailureBytes = 2000;
constexpr auto kPoll = std::chrono::microseconds(500);
// What the others get to notice that one PE has failed.
constexpr auto kGrace = std::chrono::seconds(30);

struct Outcome {
  std::atomic<int> order;  // 0: has not failed; else 1 for the first PE that failed, and so on
  std::atomic<bool> ended;
  char failure[kFailureBytes];
};

// Lies in memory that all PEs share.
struct Run {
  std::atomic<bool> id_is_there;
  std::atomic<int> failures;
  uint8_t id[SPARKGAP_WORLD_ID_BYTES];
  std::atomic<int> cards_there;
  uint8_t cards[SPARKGAP_MAX_PES][SPARKGAP_CARD_BYTES];
  Outcome outcomes[SPARKGAP_MAX_PES];

  void record_failure(int pe, const std::string& failure) {
    Outcome& outcome = outcomes[pe];
    if (outcome.order.load() != 0) return;
    std::snprintf(outcome.failure, sizeof outcome.failure, "%s", failure.c_str());
    outcome.order.store(failures.fetch_add(1) + 1);
  }
};

// The worlds of PEs that are threads, so that the runner can abort those that are late.
class OpenWorlds {
 public:
  void add(sparkgap_world* world) {
    const std::lock_guard<std::mutex> lock(mutex_);
    worlds_.push_back(world);
  }
  void destroy(sparkgap_world* world) {
    const std::lock_guard<std::mutex> lock(mutex_);
    worlds_.erase(std::remove(worlds_.begin(), worlds_.end(), world), worlds_.end());
    sparkgap_world_destroy(world);
  }
  void abort(const char* reason) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (sparkgap_world* world : worlds_) sparkgap_world_abort(world, reason);
  }

 private:
  std::mutex mutex_;
  std::vector<sparkgap_world*> worlds_;
};

void connect_nodes(const Pes& pes, const Pe& pe, Run& run, Clock::time_point deadline) {
  pe.ok(sparkgap_world_card(pe.world(), run.cards[pe.pe()]), "sparkgap_world_card");
  ++run.cards_there;
  while (run.cards_there.load() < pes.count) {
    expect(run.failures.load() == 0, "another PE failed before the world was made");
    expect(Clock::now() < deadline, "not all PEs gave a card");
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  pe.ok(sparkgap_world_connect_cards(pe.world(), run.cards[0]), "sparkgap_world_connect_cards");
}

void connect(const Pes& pes, const Pe& pe, Run& run, Clock::time_point deadline) {
  if (!pes.nodes.empty()) return connect_nodes(pes, pe, run, deadline);
  if (pe.pe() == 0) {
    pe.ok(sparkgap_world_id(pe.world(), run.id), "sparkgap_world_id");
    run.id_is_there.store(true);
  }
  while (!run.id_is_there.load()) {
    expect(run.failures.load() == 0, "another PE failed before the world was made");
    expect(Clock::now() < deadline, "PE 0 gave no world id");
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  pe.ok(sparkgap_world_connect(pe.world(), run.id), "sparkgap_world_connect");
  expect(pe.pes() == pes.count, "the world has another number of PEs");
}

void run_pe(const Pes& pes, int number, Run& run, OpenWorlds& open, const std::function<void(const Pe&)>& body) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(pes.deadline_seconds);
  const std::string label = "test PE " + std::to_string(number);
  if (!pes.has_world) {
    try {
      body(Pe(nullptr, number, pes.count));
    } catch (const std::exception& e) {
      run.record_failure(number, e.what());
    }
    run.outcomes[number].ended.store(true);
    return;
  }
  sparkgap_world_options options = options_of(pes, number, label.c_str());
  if (pes.spoil_options) pes.spoil_options(number, options);
  sparkgap_world* world = nullptr;
  const sparkgap_status created = sparkgap_world_create(&options, &world);
  open.add(world);
  const Pe pe(world, number, pes.count, pes.nodes);
  try {
    pe.ok(created, "sparkgap_world_create");
    connect(pes, pe, run, std::chrono::time_point_cast<Clock::duration>(deadline));
    body(pe);
  } catch (const std::exception& e) {
    run.record_failure(number, e.what());
    sparkgap_world_abort(world, e.what());
  }
  open.destroy(world);
  run.outcomes[number].ended.store(true);
}

void throw_failures(const Pes& pes, const Run& run) {
  std::string text;
  for (int order = 1; order <= run.failures.load(); ++order) {
    for (int pe = 0; pe < pes.count; ++pe) {
      const Outcome& outcome = run.outcomes[pe];
      if (outcome.order.load() != order) continue;
      if (!text.empty()) text += "\n     ";
      text += "PE " + std::to_string(pe) + " of " + std::to_string(pes.count) + ": " + outcome.failure;
    }
  }
  if (!text.empty()) throw Failure(text);
}

// The moment at which the runner stops waiting: the deadline, or soon after the first failure.
class Patience {
 public:
  explicit Patience(double seconds)
      : end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  bool is_over(const Run& run) {
    if (run.failures.load() > 0 && !failed_) {
      failed_ = true;
      end_ = std::min(end_, Clock::now() + kGrace);
    }
    return Clock::now() >= end_;
  }

 private:
  Clock::time_point end_;
  bool failed_ = false;
};

void run_threads(const Pes& pes, Run& run, const std::function<void(const Pe&)>& body) {
  OpenWorlds open;
  std::vector<std::thread> threads;
  for (int pe = 0; pe < pes.count; ++pe) {
    threads.emplace_back([&pes, &run, &open, &body, pe] { run_pe(pes, pe, run, open, body); });
  }
  const auto all_ended = [&pes, &run] {
    for (int pe = 0; pe < pes.count; ++pe) {
      if (!run.outcomes[pe].ended.load()) return false;
    }
    return true;
  };
  Patience patience(pes.deadline_seconds);
  while (!all_ended() && !patience.is_over(run)) std::this_thread::sleep_for(kPoll);
  if (!all_ended()) {
    open.abort("the test's deadline has passed");
    Patience last(std::chrono::duration<double>(kGrace).count());
    while (!all_ended() && !last.is_over(run)) std::this_thread::sleep_for(kPoll);
    if (!all_ended()) {
      // A thread cannot be killed, and nothing that it uses may go away under it.
      std::fprintf(stderr, "A PE did not end within the deadline, nor after its world was aborted\n");
      std::_Exit(2);
    }
    if (run.failures.load() == 0) run.record_failure(0, "some PE was still at work at the test's deadline");
  }
  for (std::thread& thread : threads) thread.join();
}

[[noreturn]] void run_child(const Pes& pes, int pe, Run& run, const std::function<void(const Pe&)>& body) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (pes.on_hosts) move_to_host(node_of(pes, pe));
  OpenWorlds open;
  run_pe(pes, pe, run, open, body);
  std::_Exit(run.outcomes[pe].order.load() == 0 ? 0 : 1);
}

void record_exit(Run& run, int pe, int status) {
  if (WIFSIGNALED(status)) {
    run.record_failure(pe, std::string("ended by signal ") + strsignal(WTERMSIG(status)));
  } else if (WEXITSTATUS(status) != 0) {
    run.record_failure(pe, "exited with " + std::to_string(WEXITSTATUS(status)));
  }
}

void run_processes(const Pes& pes, Run& run, const std::function<void(const Pe&)>& body) {
  std::fflush(nullptr);
  std::vector<pid_t> children(pes.count, 0);
  for (int pe = 0; pe < pes.count; ++pe) {
    children[pe] = fork();
    if (children[pe] == 0) run_child(pes, pe, run, body);
    if (children[pe] < 0) {
      run.record_failure(pe, std::string("fork failed: ") + std::strerror(errno));
      children[pe] = 0;
      break;
    }
  }
  Patience patience(pes.deadline_seconds);
  bool killed = false;
  for (bool left = true; left;) {
    left = false;
    for (int pe = 0; pe < pes.count; ++pe) {
      int status = 0;
      if (children[pe] == 0) continue;
      if (waitpid(children[pe], &status, WNOHANG) == 0) {
        left = true;
        continue;
      }
      children[pe] = 0;
      record_exit(run, pe, status);
    }
    if (left && !killed && patience.is_over(run)) {
      killed = true;
      for (int pe = 0; pe < pes.count; ++pe) {
        if (children[pe] == 0) continue;
        run.record_failure(pe, "killed by the test, because it was still at work at the deadline");
        kill(children[pe], SIGKILL);
      }
    }
    if (left) std::this_thread::sleep_for(kPoll);
  }
}

}  // namespace

Pes nodes_of(const std::vector<int>& nodes) {
  Pes pes{0};
  for (const int size : nodes) pes.count += size;
  pes.nodes = nodes;
  return pes;
}

int node_of(const Pes& pes, int number) {
  int node = 0;
  for (int first = 0; static_cast<size_t>(node) < pes.nodes.size(); ++node) {
    first += pes.nodes[node];
    if (number < first) return node;
  }
  return 0;
}

sparkgap_world_options options_of(const Pes& pes, int number, const char* label) {
  sparkgap_world_options options{};
  options.pe = number;
  options.pes = pes.count;
  options.epoch = pes.epoch;
  options.peer_timeout_ms = pes.peer_timeout_ms;
  options.check = pes.check ? 1 : 0;
  options.provider = pes.provider;
  options.label = label;
  options.host_directory = pes.host_directory;
  options.device = pes.gpus > 0 ? number % pes.gpus : -1;
  options.device_shared = pes.device_shared ? 1 : 0;
  options.nccl_library = pes.nccl_library;
  if (pes.nodes.empty()) return options;
  const int node = node_of(pes, number);
  for (int before = 0; before < node; ++before) options.node_first_pe += pes.nodes[before];
  options.node_pes = pes.nodes[node];
  options.wire = "tcp";
  options.wire_address = pes.on_hosts ? "eth0" : "127.0.0.1";
  return options;
}

void Pe::ok(sparkgap_status status, const char* call) const {
  expect(status == SPARKGAP_OK, "%s gave status %d: %s", call, status, sparkgap_last_error(world_));
}

sparkgap_buffer* Pe::allocate(uint64_t bytes) const {
  sparkgap_buffer* buffer = nullptr;
  ok(sparkgap_allocate(world_, bytes, &buffer), "sparkgap_allocate");
  return buffer;
}

void run_pes(const Pes& pes, const std::function<void(const Pe&)>& body) {
  const Shared<Run> run;
  if (pes.placement == Placement::kThreads) {
    run_threads(pes, run[0], body);
  } else {
    run_processes(pes, run[0], body);
  }
  throw_failures(pes, run[0]);
}

const char* placement_name(Placement placement) { return placement == Placement::kThreads ? "threads" : "processes"; }

}  // namespace sparkgap::test
