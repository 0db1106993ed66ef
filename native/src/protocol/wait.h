// How a PE waits: it spins, then yields its core, then sleeps; and how a wait ends that cannot succeed.
//
//   spin     a few microseconds on the word itself; next to nothing where PEs share cores, since then the PE that we
//            wait for may need this very core
//   yield    sched_yield between looks, up to about a millisecond
//   sleep    on the world's futex for 1 ms, growing to 20 ms; peers wake sleepers when they post (protocol/abort.h)
//
// A wait that has come to sleep looks around every 10 to 20 ms: has the world been aborted, has the peer's process
// ended or left, is the peer in another call, is the deadline over? Each of these aborts the world, so that every PE
// learns of it, and ends the wait with a Failure whose sentence names the call, the peer, and what the peer did last.
#ifndef SPARKGAP_PROTOCOL_WAIT_H
#define SPARKGAP_PROTOCOL_WAIT_H

#include <sched.h>

#include <cstdint>

#include "protocol/abort.h"
#include "protocol/atomics.h"
#include "protocol/call.h"
#include "protocol/control.h"
#include "protocol/liveness.h"
#include "protocol/pump.h"

namespace sparkgap {

struct WaitOptions {
  int64_t timeout_ms = 0;
  int32_t spins = 0;          // looks at the word before the first yield
  int64_t yield_time_us = 0;  // time of yielding before the first sleep
  bool shares_cores = false;  // more PEs than CPUs
};

// One PE's way to wait. Not thread-safe, like the handle that owns it.
class Waiter {
 public:
  Waiter(const Control& control, int32_t pe, Liveness* liveness, const WaitOptions& options)
      : control_(control), pe_(pe), liveness_(liveness), options_(options) {}

  // Until ready(), which looks at memory that `peer` writes (kNoPe: any PE may).
  template <class Ready>
  void until(int32_t peer, const Ready& ready) {
    if (__builtin_expect(ready(), 1)) return;
    if (!needs_this_core(peer)) {
      for (int32_t i = 0; i < options_.spins; ++i) {
        cpu_pause();
        if (pump_ != nullptr && pump_->pump()) i = 0;
        if (ready()) return;
      }
    }
    wait_long(peer, [](const void* condition) { return (*static_cast<const Ready*>(condition))(); }, &ready);
  }

  // Whether `peer` cannot go on unless this PE yields, as far as one can tell.
  bool needs_this_core(int32_t peer) const {
    return options_.shares_cores && peer != kNoPe && load_relaxed(&control_.step_line(peer).cpu) == sched_getcpu();
  }

  void set_options(const WaitOptions& options) { options_ = options; }
  const WaitOptions& options() const { return options_; }

  // Aborts the world with this failure and throws what the world has then failed with.
  [[noreturn]] void give_up(const Failure& failure);

  // Throws MISMATCH if `peer` has made another call of the same number as one of this PE's last.
  void compare_calls(int32_t peer);

  // Aborts the world and throws if the process of `peer` has ended, or, with `left_counts`, if it has closed its end.
  void check_alive(int32_t peer, bool left_counts);

  // Whether the process of `peer` has ended; false for this PE's own. Does nothing about it.
  bool has_ended(int32_t peer) { return peer != pe_ && liveness_->has_ended(peer); }

  // " waited 20.0 s for PE 1 (...), whose last call was .... The limit is ...". Any thread.
  void describe_lateness(Text& text, int32_t peer, int64_t waited_us) const;

  // What waits keep going from now on; nullptr for nothing. It outlives the waits.
  void set_pump(Pump* pump) { pump_ = pump; }

  // "call #41 allReduce float32 x 1024 SUM on PE 2 (executor 3, epoch 1)".
  void describe_own_call(Text& text) const;

  // What the call that this PE is in does, for errors: nullptr for the collective that its CallLine shows.
  void set_activity(const char* activity) { activity_ = activity; }

 private:
  using Condition = bool (*)(const void*);

  void wait_long(int32_t peer, Condition ready, const void* context);
  void look_around(int32_t peer, int64_t waited_us, Condition ready, const void* context);
  void look_for_losses(Condition ready, const void* context);
  void look_for_loss(int32_t peer, uint32_t state, Condition ready, const void* context);
  void describe_peer(Text& text, int32_t peer) const;
  void describe_last_call(Text& text, int32_t peer) const;
  [[noreturn]] void give_up_mismatched(int32_t peer, uint64_t number, const CallSignature& mine,
                                       const CallSignature& theirs);
  [[noreturn]] void give_up_late(int32_t peer, int64_t waited_us);

  Control control_;
  int32_t pe_;
  Liveness* liveness_;
  WaitOptions options_;
  const char* activity_ = nullptr;
  Pump* pump_ = nullptr;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_WAIT_H
