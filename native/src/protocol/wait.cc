#include "protocol/wait.h"

#include <sched.h>

#include <algorithm>

#include "base/clock.h"
#include "protocol/futex.h"

namespace sparkgap {
namespace {

constexpr int64_t kFirstSleepNs = 1000000;
constexpr int64_t kLongestSleepNs = 20000000;
constexpr int64_t kLookAroundUs = 10000;

// Counts this PE among those that a post must wake.
class Sleeper {
 public:
  explicit Sleeper(ControlHeader& header) : header_(header) {
    __atomic_fetch_add(&header_.sleepers, 1, __ATOMIC_SEQ_CST);
  }
  ~Sleeper() { __atomic_fetch_sub(&header_.sleepers, 1, __ATOMIC_SEQ_CST); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

 private:
  ControlHeader& header_;
};

}  // namespace

void Waiter::give_up(const Failure& failure) {
  abort_world(control_, pe_, failure);
  fail_as_aborted(control_, pe_);
}

void Waiter::wait_long(int32_t peer, Condition ready, const void* context) {
  const int64_t start = now_us();
  int64_t now = start;
  while (now - start < options_.yield_time_us) {
    for (int i = 0; i < 8; ++i) {
      sched_yield();
      if (ready(context)) return;
    }
    if (is_aborted(control_)) fail_as_aborted(control_, pe_);
    now = now_us();
  }

  ControlHeader& header = control_.header();
  int64_t next_look = now;
  for (int64_t sleep_ns = kFirstSleepNs;; sleep_ns = std::min(2 * sleep_ns, kLongestSleepNs)) {
    {
      Sleeper sleeper(header);
      const uint32_t wake = __atomic_load_n(&header.wake, __ATOMIC_SEQ_CST);
      if (ready(context)) return;
      if (!is_aborted(control_)) futex_wait(&header.wake, wake, sleep_ns);
    }
    if (ready(context)) return;
    if (is_aborted(control_)) fail_as_aborted(control_, pe_);
    now = now_us();
    if (now >= next_look) {
      look_around(peer, now - start, ready, context);
      next_look = now + kLookAroundUs;
    }
  }
}

void Waiter::look_around(int32_t peer, int64_t waited_us, Condition ready, const void* context) {
  if (peer != kNoPe) {
    compare_calls(peer);
    look_for_loss(peer, load_acquire(&control_.record(peer).state), ready, context);
  } else {
    look_for_losses(ready, context);
  }
  if (waited_us >= options_.timeout_ms * 1000) give_up_late(peer, waited_us);
}

// Any PE may send what this one waits for: those that have left are a loss only where nobody else is there.
void Waiter::look_for_losses(Condition ready, const void* context) {
  int32_t last_left = kNoPe;
  bool anybody_here = false;
  for (int32_t other = 0; other < control_.pes(); ++other) {
    if (other == pe_) continue;
    const uint32_t state = load_acquire(&control_.record(other).state);
    if (state == kLeft) {
      last_left = other;
    } else {
      anybody_here = true;
      look_for_loss(other, state, ready, context);
    }
  }
  if (!anybody_here && last_left != kNoPe) look_for_loss(last_left, kLeft, ready, context);
}

void Waiter::check_alive(int32_t peer, bool left_counts) {
  const uint32_t state = load_acquire(&control_.record(peer).state);
  if (state == kLeft && !left_counts) return;
  look_for_loss(peer, state, [](const void*) { return false; }, nullptr);
}

void Waiter::look_for_loss(int32_t peer, uint32_t state, Condition ready, const void* context) {
  if (peer == pe_ || state == kAbsent || state == kConnecting) return;
  const bool left = state == kLeft;
  if (!left && !liveness_->has_ended(peer)) return;
  // What it did last may have been what we wait for.
  if (ready(context)) return;
  Failure failure;
  failure.status = SPARKGAP_PEER_LOST;
  failure.pe = peer;
  Text text(failure.message, sizeof failure.message);
  describe_own_call(text);
  text.add(": ");
  describe_peer(text, peer);
  text.add(left ? " has closed its end of the world" : " is lost: its process ended");
  describe_last_call(text, peer);
  if (!left) text.add(" See that executor's log, and whether the host ran out of memory");
  give_up(failure);
}

void Waiter::compare_calls(int32_t peer) {
  if (activity_ != nullptr) return;
  const CallLine& own = control_.call_line(pe_);
  const uint64_t newest = own.begun;
  const uint64_t oldest = newest < kCallsKept ? 1 : newest - kCallsKept + 1;
  // Calls that ask nothing of peers return at once, so the first difference may lie some calls back.
  for (uint64_t number = oldest; number <= newest; ++number) {
    const CallSignature& mine = own.signature[number % kCallsKept];
    CallSignature theirs;
    if (!find_call(control_.call_line(peer), number, &theirs) || theirs == mine) continue;
    give_up_mismatched(peer, number, mine, theirs);
  }
}

void Waiter::give_up_mismatched(int32_t peer, uint64_t number, const CallSignature& mine, const CallSignature& theirs) {
  Failure failure;
  failure.status = SPARKGAP_MISMATCH;
  failure.pe = peer;
  Text text(failure.message, sizeof failure.message);
  text.add("PEs made different calls: PE %d (%s) made ", pe_, control_.record(pe_).label);
  describe_call(text, number, mine);
  text.add(", PE %d (%s) made ", peer, control_.record(peer).label);
  describe_call(text, number, theirs);
  text.add("; every PE must make the same collective calls in the same order");
  give_up(failure);
}

void Waiter::give_up_late(int32_t peer, int64_t waited_us) {
  Failure failure;
  failure.status = SPARKGAP_TIMED_OUT;
  failure.pe = peer;
  Text text(failure.message, sizeof failure.message);
  describe_own_call(text);
  describe_lateness(text, peer, waited_us);
  give_up(failure);
}

void Waiter::describe_lateness(Text& text, int32_t peer, int64_t waited_us) const {
  text.add(" waited %.1f s", static_cast<double>(waited_us) / 1e6);
  if (peer == kNoPe) {
    text.add(" and nothing came");
  } else {
    text.add(" for ");
    describe_peer(text, peer);
    if (load_acquire(&control_.record(peer).state) == kConnected) {
      describe_last_call(text, peer);
    } else {
      text.add(", which has not connected.");
    }
  }
  text.add(" The limit is %lld ms (spark.sparkgap.peer.timeout)", static_cast<long long>(options_.timeout_ms));
}

void Waiter::describe_own_call(Text& text) const {
  const CallLine& own = control_.call_line(pe_);
  if (activity_ != nullptr) {
    text.add("%s after call #%llu", activity_, static_cast<unsigned long long>(own.begun));
  } else {
    describe_call(text, own.begun, own.signature[own.begun % kCallsKept]);
  }
  text.add(" on PE %d (%s, epoch %llu)", pe_, control_.record(pe_).label,
           static_cast<unsigned long long>(control_.header().epoch));
}

void Waiter::describe_peer(Text& text, int32_t peer) const {
  const PeRecord& record = control_.record(peer);
  text.add("PE %d", peer);
  if (load_acquire(&record.state) >= kConnected) {
    text.add(" (%s, process %d on %s)", record.label, record.pid, record.host);
  }
}

void Waiter::describe_last_call(Text& text, int32_t peer) const {
  const ObservedCall last = observe_call(control_.call_line(peer));
  if (last.begun == 0) {
    text.add(", which has made no call yet.");
    return;
  }
  text.add(last.inside ? ", which is in " : ", whose last call was ");
  if (last.whole) {
    describe_call(text, last.begun, last.signature);
  } else {
    text.add("call #%llu", static_cast<unsigned long long>(last.begun));
  }
  text.add(last.inside ? "." : ", which it has returned from.");
}

}  // namespace sparkgap
