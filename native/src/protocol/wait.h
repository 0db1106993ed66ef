// How a PE waits, and how a wait ends that cannot succeed.
//
// With a CPU for each PE it spins, for longer than a time slice: whoever yields where other processes run as well is
// passed over, and two PEs that have come to one CPU would hand it to each other for ever, since the scheduler sees
// nobody who is in want. So a PE whose wait outlasts the first microseconds looks whether another was seen last on its
// CPU, and goes to one where none was. With more PEs than CPUs it hardly spins, because the PE that it waits for may
// need this very CPU, and yields for about a millisecond. Then it sleeps on the world's futex for 1 ms, growing to
// 20 ms; peers wake sleepers when they post (protocol/abort.h).
//
// A wait that has come to sleep looks around every 10 to 20 ms: has the world been aborted, has some PE's process
// ended, has the peer left or is it in another call, is the deadline over? Each of these aborts the world, so that
// every PE learns of it, and ends the wait with a Failure whose sentence names the call, the peer, and what the peer
// did last. The deadline counts from the moment at which a PE last said that it is at work in a call (tell_progress).
#ifndef SPARKGAP_PROTOCOL_WAIT_H
#define SPARKGAP_PROTOCOL_WAIT_H

#include <sched.h>

#include <cstdint>

#include "base/ticks.h"
#include "protocol/abort.h"
#include "protocol/atomics.h"
#include "protocol/call.h"
#include "protocol/control.h"
#include "protocol/liveness.h"
#include "protocol/pump.h"

namespace sparkgap {

struct WaitOptions {
  int64_t timeout_ms = 0;
  int32_t spins = 0;          // looks at the word before the first yield; at the wire, too, they are fewer
  int64_t awake_us = 0;       // time of yielding, or of spinning on, before the first sleep
  bool shares_cores = false;  // more PEs than CPUs
};

// As in StepLine::cpu.
inline uint32_t this_cpu() { return static_cast<uint32_t>(sched_getcpu() + 1); }

// From a PE that is at work inside a call for longer than some milliseconds, for example between pieces of a copy: the
// limit of all who wait starts again.
inline void tell_progress(const Control& control) {
  __atomic_fetch_add(&control.header().progress, 1, __ATOMIC_RELAXED);
}

// One PE's way to wait. Not thread-safe, like the handle that owns it.
class Waiter {
 public:
  Waiter(const Control& control, int32_t pe, Liveness* liveness, const WaitOptions& options)
      : control_(control), pe_(pe), liveness_(liveness), options_(options) {}

  // Until ready(), which looks at memory that `peer` writes (kNoPe: any PE may).
  template <class Ready>
  void until(int32_t peer, const Ready& ready) {
    if (__builtin_expect(ready(), 1)) return;
    const uint64_t began = times_short_waits_ ? ticks() : 0;
    if (!needs_this_core(peer)) {
      const int32_t cost = cost_of_look();
      for (int32_t i = 0; i < options_.spins; i += cost) {
        cpu_pause();
        if (pump_ != nullptr && pump_->pump()) i = 0;
        if (ready()) {
          if (began != 0) short_waits_ += ticks() - began;
          return;
        }
      }
    }
    if (began != 0) short_waits_ += ticks() - began;
    wait_long(peer, [](const void* condition) { return (*static_cast<const Ready*>(condition))(); }, &ready);
  }

  // Whether `peer` cannot go on unless this PE yields, as far as one can tell.
  bool needs_this_core(int32_t peer) const {
    return options_.shares_cores && peer != kNoPe && load_relaxed(&control_.step_line(peer).cpu) == this_cpu();
  }

  // Ticks in all waits that outlasted the first looks, from then on.
  uint64_t long_waits() const { return long_waits_; }
  // Ticks in first looks that did not find at once what they waited for, while those are timed.
  uint64_t short_waits() const { return short_waits_; }
  void time_short_waits(bool times) { times_short_waits_ = times; }

  void set_options(const WaitOptions& options) { options_ = options; }
  const WaitOptions& options() const { return options_; }

  // Aborts the world with this failure and throws what the world has then failed with.
  [[noreturn]] void give_up(const Failure& failure);

  // Throws MISMATCH if `peer` has ended its function without the call that this PE is in, or has made another call of
  // the same number as one of this PE's last.
  void compare_calls(int32_t peer);

  // Throws MISMATCH if `peer` has ended its function, in the run that this PE is in, before the last call of this PE.
  void compare_runs(int32_t peer);

  // Aborts the world and throws if the process of `peer` has ended, or, with `left_counts`, if it has closed its end.
  void check_alive(int32_t peer, bool left_counts);

  // Aborts the world because `who`, PE `world_pe` of it, has ended its function after its call number `last_of_run`,
  // and throws.
  [[noreturn]] void give_up_finished(int32_t world_pe, const char* who, uint64_t last_of_run);

  // Whether the process of `peer` has ended; false for this PE's own. Does nothing about it.
  bool has_ended(int32_t peer) { return peer != pe_ && liveness_->has_ended(peer); }

  // " waited 20.0 s for PE 1 (...), whose last call was .... The limit is ...". Any thread.
  void describe_lateness(Text& text, int32_t peer, int64_t waited_us) const;
  // The same of a PE as the world numbers it, which may be of another node.
  void describe_lateness_of(Text& text, int32_t world_pe, int64_t waited_us) const;

  // What waits keep going from now on; nullptr for nothing. It outlives the waits.
  void set_pump(Pump* pump) { pump_ = pump; }

  // "call #41 allReduce float32 x 1024 SUM on PE 2 (executor 3, epoch 1)".
  void describe_own_call(Text& text) const;
  // Whether a PE that has ended its function so often, the last time after that call, makes none of this PE's call any
  // more.
  bool is_beyond(uint64_t runs, uint64_t last_of_run) const {
    const CallLine& own = control_.call_line(pe_);
    return runs > load_relaxed(&own.runs) && last_of_run < load_acquire(&own.begun);
  }
  // The calls of this PE's run are those after that number.
  void begin_run(uint64_t after) { run_after_ = after; }
  uint64_t run_after() const { return run_after_; }

  // What the call that this PE is in does, for errors: nullptr for the collective that its CallLine shows.
  void set_activity(const char* activity) { activity_ = activity; }

 private:
  using Condition = bool (*)(const void*);
  // Looks at a word that take as long as one at the wire, which is a system call or more.
  static constexpr int32_t kLooksOfPump = 20;

  int32_t cost_of_look() const { return pump_ == nullptr ? 1 : kLooksOfPump; }
  void wait_long(int32_t peer, Condition ready, const void* context);
  bool yield(int64_t start, Condition ready, const void* context);
  bool spin(int64_t start, Condition ready, const void* context);
  bool is_peer_here(uint32_t cpu) const;
  bool leave(uint32_t cpu);
  void look_around(int32_t peer, Condition ready, const void* context);
  void look_for_losses(int32_t peer, Condition ready, const void* context);
  void look_for_loss(int32_t peer, uint32_t state, Condition ready, const void* context);
  void describe_peer(Text& text, int32_t peer) const;
  void describe_last_call(Text& text, int32_t peer) const;
  void add_wait_for(Text& text, int32_t peer, int32_t far, int64_t waited_us) const;
  static void add_last_call(Text& text, const CallLine& calls);
  bool has_finished(int32_t peer) const;
  [[noreturn]] void give_up_finished(int32_t peer);
  [[noreturn]] void give_up_late(int32_t peer, int64_t waited_us);

  Control control_;
  int32_t pe_;
  Liveness* liveness_;
  WaitOptions options_;
  const char* activity_ = nullptr;
  Pump* pump_ = nullptr;
  int32_t next_asked_ = 0;  // the PE whose process a wait looks at next
  uint64_t run_after_ = 0;
  uint64_t long_waits_ = 0;
  uint64_t short_waits_ = 0;
  bool times_short_waits_ = false;
  int64_t stays_until_ = 0;  // when this PE may leave a CPU again
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_WAIT_H
