// How a wait ends that its peer does not end, with PEs that are only written about in the control segment.
#include "protocol/wait.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <thread>

#include "protocol/call.h"
#include "support/check.h"
#include "support/control_memory.h"

namespace sparkgap::test {
namespace {

class Dead final : public Liveness {
 public:
  explicit Dead(int32_t pe) : pe_(pe) {}
  bool has_ended(int32_t pe) override { return pe == pe_; }
  pid_t process(int32_t) override { return 1; }

 private:
  int32_t pe_;
};

// Of PE 0, whose peers are connected and do nothing.
class Wait {
 public:
  Wait(int32_t pes, int64_t timeout_ms, int32_t dead = kNoPe) : memory_(pes), dead_(dead) {
    for (int32_t pe = 0; pe < pes; ++pe) control().record(pe).state = kConnected;
    WaitOptions options;
    options.timeout_ms = timeout_ms;
    options.shares_cores = true;
    waiter_.emplace(control(), 0, &dead_, options);
  }

  const Control& control() const { return memory_.control(); }
  Waiter& waiter() { return *waiter_; }

  // What the wait fails with; SPARKGAP_OK if it does not.
  template <class Ready>
  sparkgap::Failure failure_of(int32_t peer, const Ready& ready) {
    try {
      waiter_->until(peer, ready);
    } catch (const sparkgap::Failure& failure) {
      return failure;
    }
    return {};
  }

 private:
  ControlMemory memory_;
  Dead dead_;
  std::optional<Waiter> waiter_;
};

constexpr auto never = [] { return false; };

void a_loss_is_seen_whichever_of_many_pes_it_is() {
  constexpr int32_t kPes = 200;
  for (const int32_t dead : {2, 100, kPes - 1}) {
    const sparkgap::Failure failure = Wait(kPes, 60000, dead).failure_of(1, never);
    expect(failure.status == SPARKGAP_PEER_LOST && failure.pe == dead, "status %d, about PE %d: %s", failure.status,
           failure.pe, failure.message);
  }
}

void a_limit_starts_again_while_some_pe_is_at_work() {
  Wait wait(3, 1000);
  std::atomic<bool> done{false};
  std::thread peer([&] {
    for (int i = 0; i < 60; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      tell_progress(wait.control());
    }
    done.store(true);
  });
  const sparkgap::Failure failure = wait.failure_of(1, [&] { return done.load(); });
  peer.join();
  expect(failure.status == SPARKGAP_OK, "%s", failure.message);
  expect(wait.failure_of(1, never).status == SPARKGAP_TIMED_OUT, "nobody is at work, and the wait has no limit");
}

void labels_without_an_end_are_cut() {
  Wait wait(2, 1);
  for (int32_t pe = 0; pe < 2; ++pe) {
    PeRecord& record = wait.control().record(pe);
    std::memset(record.label, 'l', sizeof record.label);
    std::memset(record.host, 'h', sizeof record.host);
  }
  const std::string text = wait.failure_of(1, never).message;
  const std::string label = "PE 1 (" + std::string(kLabelBytes, 'l') + ",";
  const std::string host = " on " + std::string(kHostBytes, 'h') + ")";
  expect(text.find(label) != std::string::npos && text.find(host) != std::string::npos, "%s", text.c_str());
}

// As World::begin_call does it.
void publish_call(CallLine& line, uint64_t number) {
  __atomic_thread_fence(__ATOMIC_RELEASE);
  CallSignature& call = line.signature[number % kCallsKept];
  store_relaxed(&call.operation, SPARKGAP_BROADCAST);
  store_relaxed(&call.root, 0);
  store_relaxed(&call.count, number);
  store_release(&line.begun, number);
}

// As in a GPU world, whose calls do not wait: a PE is some calls ahead of the other, and its watcher compares
// meanwhile.
void a_watcher_takes_no_equal_calls_for_different_ones() {
  constexpr uint64_t kAhead = 3;
  Wait wait(2, 60000);
  std::atomic<bool> done{false};
  std::thread caller([&] {
    for (uint64_t number = 1; number <= 20000000; ++number) {
      publish_call(wait.control().call_line(0), number);
      if (number > kAhead) publish_call(wait.control().call_line(1), number - kAhead);
    }
    done.store(true);
  });
  sparkgap::Failure failure;
  try {
    while (!done.load()) wait.waiter().compare_calls(1);
  } catch (const sparkgap::Failure& thrown) {
    failure = thrown;
  }
  caller.join();
  expect(failure.status == SPARKGAP_OK, "%s", failure.message);
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"a_loss_is_seen_whichever_of_many_pes_it_is", a_loss_is_seen_whichever_of_many_pes_it_is},
       {"a_limit_starts_again_while_some_pe_is_at_work", a_limit_starts_again_while_some_pe_is_at_work},
       {"labels_without_an_end_are_cut", labels_without_an_end_are_cut},
       {"a_watcher_takes_no_equal_calls_for_different_ones", a_watcher_takes_no_equal_calls_for_different_ones}});
}
