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
// Processes that one look around asks after: each costs a system call.
constexpr int32_t kAskedAtOnce = 32;
// Looks at the word, each with its pause, between two at what else there is: some ten microseconds.
constexpr int kLooksOfSpin = 1000;
// Going to another CPU takes some ten microseconds; whoever is brought back at once had better stay.
constexpr int64_t kStayUs = 2000;

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

// Adds the ticks that it lives, however a wait ends.
class Timed {
 public:
  explicit Timed(uint64_t& sum) : sum_(sum) {}
  ~Timed() { sum_ += ticks() - began_; }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  uint64_t& sum_;
  const uint64_t began_ = ticks();
};

}  // namespace

void Waiter::give_up(const Failure& failure) {
  abort_world(control_, control_.world_pe(pe_), failure);
  fail_as_aborted(control_, control_.world_pe(pe_));
}

void Waiter::wait_long(int32_t peer, Condition ready, const void* context) {
  const Timed timed(long_waits_);
  const int64_t start = now_us();
  if (options_.shares_cores ? yield(start, ready, context) : spin(start, ready, context)) return;

  ControlHeader& header = control_.header();
  uint64_t progress = load_relaxed(&header.progress);
  int64_t progress_at = start;
  int64_t next_look = start;
  for (int64_t sleep_ns = kFirstSleepNs;; sleep_ns = std::min(2 * sleep_ns, kLongestSleepNs)) {
    {
      Sleeper sleeper(header);
      const uint32_t wake = __atomic_load_n(&header.wake, __ATOMIC_SEQ_CST);
      if (ready(context)) return;
      if (!is_aborted(control_)) futex_wait(&header.wake, wake, sleep_ns);
    }
    if (pump_ != nullptr) pump_->pump();
    if (ready(context)) return;
    if (is_aborted(control_)) fail_as_aborted(control_, control_.world_pe(pe_));
    const int64_t now = now_us();
    if (now < next_look) continue;
    next_look = now + kLookAroundUs;
    look_around(peer, ready, context);
    const uint64_t seen = load_relaxed(&header.progress);
    if (seen != progress) progress_at = now;
    progress = seen;
    if (now - progress_at >= options_.timeout_ms * 1000) give_up_late(peer, now - start);
  }
}

// Both return whether ready() has become true, at the latest after options_.awake_us in which nothing came over a wire.
bool Waiter::yield(int64_t start, Condition ready, const void* context) {
  for (int64_t now = start; now - start < options_.awake_us; now = now_us()) {
    for (int i = 0; i < 8; ++i) {
      sched_yield();
      if (pump_ != nullptr && pump_->pump()) start = now;
      if (ready(context)) return true;
    }
    if (is_aborted(control_)) fail_as_aborted(control_, control_.world_pe(pe_));
  }
  return false;
}

bool Waiter::spin(int64_t start, Condition ready, const void* context) {
  for (int64_t now = start; now - start < options_.awake_us; now = now_us()) {
    const uint32_t cpu = this_cpu();
    store_relaxed(&control_.step_line(pe_).cpu, cpu);
    if (is_peer_here(cpu)) {
      if (now >= stays_until_ && leave(cpu)) {
        stays_until_ = now + kStayUs;
      } else {
        sched_yield();
      }
    }
    for (int i = 0; i < kLooksOfSpin; i += cost_of_look()) {
      if (pump_ != nullptr && pump_->pump()) start = now;
      if (ready(context)) return true;
      cpu_pause();
    }
    if (is_aborted(control_)) fail_as_aborted(control_, control_.world_pe(pe_));
  }
  return false;
}

// Any of them, since the one that this PE waits for may itself wait for one that cannot run.
bool Waiter::is_peer_here(uint32_t cpu) const {
  for (int32_t peer = 0; peer < control_.pes(); ++peer) {
    if (peer != pe_ && load_relaxed(&control_.step_line(peer).cpu) == cpu) return true;
  }
  return false;
}

// Goes to a CPU on which no PE was seen, or at least not to this one. False if there is none for this thread.
bool Waiter::leave(uint32_t cpu) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
  cpu_set_t others = allowed;
  CPU_CLR(cpu - 1, &others);
  if (CPU_COUNT(&others) == 0) return false;
  cpu_set_t unused = others;
  for (int32_t peer = 0; peer < control_.pes(); ++peer) {
    const uint32_t seen = load_relaxed(&control_.step_line(peer).cpu);
    if (seen != 0 && seen <= CPU_SETSIZE) CPU_CLR(seen - 1, &unused);
  }
  // Before this thread moves: the other PE of this CPU is to stay.
  store_release(&control_.step_line(pe_).cpu, 0);
  const bool moved = sched_setaffinity(0, sizeof others, CPU_COUNT(&unused) > 0 ? &unused : &others) == 0;
  if (moved) sched_setaffinity(0, sizeof allowed, &allowed);
  store_relaxed(&control_.step_line(pe_).cpu, this_cpu());
  return moved;
}

void Waiter::look_around(int32_t peer, Condition ready, const void* context) {
  if (pump_ != nullptr) {
    const int32_t gone = pump_->find_gone();
    if (gone != kNoPe) {
      // What it sent last may have been what we wait for.
      pump_->pump();
      if (ready(context)) return;
      pump_->give_up_gone(gone);
    }
  }
  if (peer != kNoPe) {
    compare_calls(peer);
    look_for_loss(peer, load_acquire(&control_.record(peer).state), ready, context);
  }
  look_for_losses(peer, ready, context);
}

// A PE that is lost is a loss to all, whoever waits for whom. One that has left is so only to who waits for it, or
// where any PE may send what this one waits for and nobody else is there.
void Waiter::look_for_losses(int32_t peer, Condition ready, const void* context) {
  int32_t last_left = kNoPe;
  int32_t last_finished = kNoPe;
  bool anybody_here = pump_ != nullptr && pump_->has_peers();
  for (int32_t other = 0; other < control_.pes(); ++other) {
    if (other == pe_) continue;
    if (load_acquire(&control_.record(other).state) >= kLeft) {
      last_left = other;
    } else if (has_finished(other)) {
      last_finished = other;
    } else {
      anybody_here = true;
    }
  }
  if (peer == kNoPe && !anybody_here) {
    // What they did last may have been what we wait for.
    if (last_finished != kNoPe && !ready(context)) give_up_finished(last_finished);
    if (last_left != kNoPe) look_for_loss(last_left, kLeft, ready, context);
  }
  for (int32_t asked = 0; asked < std::min(control_.pes(), kAskedAtOnce); ++asked) {
    const int32_t other = next_asked_;
    next_asked_ = (next_asked_ + 1) % control_.pes();
    const uint32_t state = load_acquire(&control_.record(other).state);
    if (state < kLeft) look_for_loss(other, state, ready, context);
  }
}

void Waiter::check_alive(int32_t peer, bool left_counts) {
  const uint32_t state = load_acquire(&control_.record(peer).state);
  if (state >= kLeft && !left_counts) return;
  look_for_loss(peer, state, [](const void*) { return false; }, nullptr);
}

void Waiter::look_for_loss(int32_t peer, uint32_t state, Condition ready, const void* context) {
  if (peer == pe_ || state == kAbsent || state == kConnecting) return;
  const bool left = state >= kLeft;
  if (!left && !liveness_->has_ended(peer)) return;
  // What it did last may have been what we wait for.
  if (ready(context)) return;
  Failure failure;
  failure.status = SPARKGAP_PEER_LOST;
  failure.pe = peer == kNoPe ? kNoPe : control_.world_pe(peer);
  Text text(failure.message, sizeof failure.message);
  describe_own_call(text);
  text.add(": ");
  describe_peer(text, peer);
  text.add(left ? " has closed its end of the world" : " is lost: its process ended");
  describe_last_call(text, peer);
  if (!left) text.add(" See that executor's log, and whether the host ran out of memory");
  give_up(failure);
}

bool Waiter::has_finished(int32_t peer) const {
  return load_acquire(&control_.call_line(peer).runs) > load_relaxed(&control_.call_line(pe_).runs);
}

void Waiter::compare_runs(int32_t peer) {
  if (peer == pe_ || !has_finished(peer)) return;
  const uint64_t last = load_relaxed(&control_.call_line(peer).last_of_run);
  if (last < load_acquire(&control_.call_line(pe_).begun)) give_up_finished(peer);
}

void Waiter::give_up_finished(int32_t peer) {
  char who[kMaxMessageBytes];
  Text text(who, sizeof who);
  describe_peer(text, peer);
  give_up_finished(control_.world_pe(peer), who, load_relaxed(&control_.call_line(peer).last_of_run));
}

void Waiter::give_up_finished(int32_t world_pe, const char* who, uint64_t last_of_run) {
  // Calls have the same numbers on all PEs, so this PE's end of the run before was the peer's as well.
  const uint64_t before = std::max(run_after_, load_relaxed(&control_.call_line(pe_).last_of_run));
  const uint64_t made = last_of_run - before;
  Failure failure;
  failure.status = SPARKGAP_MISMATCH;
  failure.pe = world_pe;
  Text text(failure.message, sizeof failure.message);
  describe_own_call(text);
  text.add(" waits for a PE whose function has ended: %s", who);
  text.add(
      " made %llu call%s and returned. All PEs must make the same calls; the usual cause is a call for each row, or "
      "each "
      "batch of them, where PEs have different numbers of rows",
      static_cast<unsigned long long>(made), made == 1 ? "" : "s");
  give_up(failure);
}

void Waiter::compare_calls(int32_t peer) {
  if (activity_ != nullptr) return;
  compare_runs(peer);
  CallDifference difference;
  if (!find_difference(control_.call_line(pe_), control_.call_line(peer), &difference)) return;
  const std::string own = control_.label(pe_);
  const std::string theirs = control_.label(peer);
  Failure failure;
  failure.status = SPARKGAP_MISMATCH;
  failure.pe = control_.world_pe(peer);
  Text text(failure.message, sizeof failure.message);
  describe_difference(text, {control_.world_pe(pe_), own.c_str()}, {control_.world_pe(peer), theirs.c_str()},
                      difference);
  give_up(failure);
}

void Waiter::give_up_late(int32_t peer, int64_t waited_us) {
  Failure failure;
  failure.status = SPARKGAP_TIMED_OUT;
  failure.pe = peer == kNoPe ? kNoPe : control_.world_pe(peer);
  if (peer == kNoPe && pump_ != nullptr) failure.pe = pump_->awaited();
  Text text(failure.message, sizeof failure.message);
  describe_own_call(text);
  describe_lateness(text, peer, waited_us);
  give_up(failure);
}

void Waiter::describe_lateness(Text& text, int32_t peer, int64_t waited_us) const {
  add_wait_for(text, peer, peer == kNoPe && pump_ != nullptr ? pump_->awaited() : kNoPe, waited_us);
}

void Waiter::describe_lateness_of(Text& text, int32_t world_pe, int64_t waited_us) const {
  for (int32_t peer = 0; peer < control_.pes(); ++peer) {
    if (control_.world_pe(peer) == world_pe) return add_wait_for(text, peer, kNoPe, waited_us);
  }
  add_wait_for(text, kNoPe, world_pe, waited_us);
}

// `peer` is of this node, `far` of another.
void Waiter::add_wait_for(Text& text, int32_t peer, int32_t far, int64_t waited_us) const {
  text.add(" waited ").add_seconds(waited_us);
  if (far != kNoPe) {
    text.add(" for ");
    pump_->describe_peer(text, far);
    const CallLine* calls = pump_->calls_of(far);
    if (calls == nullptr) {
      text.add(".");
    } else {
      add_last_call(text, *calls);
    }
  } else if (peer == kNoPe) {
    text.add(" and nothing came");
  } else {
    text.add(" for ");
    describe_peer(text, peer);
    if (load_acquire(&control_.record(peer).state) >= kConnected) {
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
  text.add(" on PE %d (%s, epoch %llu)", control_.world_pe(pe_), control_.label(pe_).c_str(),
           static_cast<unsigned long long>(control_.header().epoch));
}

void Waiter::describe_peer(Text& text, int32_t peer) const {
  const PeRecord& record = control_.record(peer);
  text.add("PE %d", control_.world_pe(peer));
  if (load_acquire(&record.state) >= kConnected) {
    text.add(" (%s, process %d on %s)", control_.label(peer).c_str(), record.pid, control_.host(peer).c_str());
  }
}

void Waiter::describe_last_call(Text& text, int32_t peer) const { add_last_call(text, control_.call_line(peer)); }

void Waiter::add_last_call(Text& text, const CallLine& calls) {
  const ObservedCall last = observe_call(calls);
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
