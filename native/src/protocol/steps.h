// One PE's way through the steps of protocol/layout.h: the building block of every collective.
//
//   steps.begin();                 next step; its slot is free to write when this returns
//   ... write steps.slot(pe) ...
//   steps.post();                  what was written may be read
//   steps.wait_for(peer);          the peer has posted this step
//   ... read steps.slot(peer) ...
#ifndef SPARKGAP_PROTOCOL_STEPS_H
#define SPARKGAP_PROTOCOL_STEPS_H

#include <cstdint>

#include "protocol/abort.h"
#include "protocol/atomics.h"
#include "protocol/control.h"
#include "protocol/wait.h"

namespace sparkgap {

class Steps {
 public:
  Steps(const Control& control, int32_t pe, Waiter* waiter)
      : control_(control), pe_(pe), pes_(control.pes()), waiter_(waiter) {}

  // All steps until the next call of this carry the signature of this call and of all before it: a PE that waits for
  // nobody, such as the root of a broadcast, shows in the next call that waits whether it made the same as the others.
  void begin_call(uint64_t signature) { signature_ = (signature_ ^ signature) * 0x9e3779b97f4a7c15u; }

  // Equal on PEs that have made the same calls.
  uint64_t history() const { return signature_; }

  void begin() {
    ++step_;
    if (all_seen_ + 1 < step_) see_all(step_ - 1);
  }

  // Before post(): a word for all PEs. It costs them nothing, since they find it in the line that they wait for.
  void show(uint64_t word) { store_relaxed(&control_.step_line(pe_).shown[step_ % kSlots], word); }
  // What `pe` has shown in this step, once it has been waited for.
  uint64_t shown(int32_t pe) const { return load_relaxed(&control_.step_line(pe).shown[step_ % kSlots]); }

  void post() {
    StepLine& line = control_.step_line(pe_);
    store_relaxed(&line.cpu, this_cpu());
    store_relaxed(&line.signature[step_ % kSlots], signature_);
    store_release(&line.step, step_);
    wake_sleepers(control_.header());
  }

  void wait_for(int32_t peer) {
    see(peer, step_);
    const uint64_t theirs = load_relaxed(&control_.step_line(peer).signature[step_ % kSlots]);
    if (__builtin_expect(theirs != signature_, 0)) refuse_call_of(peer);
  }

  void wait_for_all() {
    if (waiter_->options().shares_cores) let_peers_run();
    for (int32_t i = 1; i < pes_; ++i) wait_for(neighbour(i));
    all_seen_ = step_;
  }

  // For steps whose data shows by itself that it is there (packets): this PE has seen all of it.
  void saw_all() { all_seen_ = step_; }

  // A step without data: when it returns, every PE has begun it.
  void meet() {
    begin();
    post();
    wait_for_all();
  }

  uint8_t* slot(int32_t pe) const { return control_.slot(pe, step_); }
  // After a wait for all: the slot of the step to come, which this PE may write already.
  uint8_t* next_slot(int32_t pe) const { return control_.slot(pe, step_ + 1); }

  Packet* packets(int32_t pe) const { return control_.packets(pe, step_); }
  uint64_t packet_flag() const { return signature_ + step_; }
  Waiter& waiter() const { return *waiter_; }
  uint64_t slot_bytes() const { return control_.slot_bytes(); }

 private:
  void see(int32_t peer, uint64_t step) {
    if (seen_[peer] >= step) return;
    const uint64_t* word = &control_.step_line(peer).step;
    waiter_->until(peer, [word, step] { return load_acquire(word) >= step; });
    // It may have grown since: what it shows now is read later, without another look.
    seen_[peer] = load_acquire(word);
  }

  // The peer after this PE first, so that PEs do not all pull the same lines at once.
  int32_t neighbour(int32_t distance) const {
    const int32_t pe = pe_ + distance;
    return pe < pes_ ? pe : pe - pes_;
  }

  void see_all(uint64_t step);
  void let_peers_run();
  [[noreturn]] void refuse_call_of(int32_t peer);

  Control control_;
  int32_t pe_;
  int32_t pes_;
  Waiter* waiter_;
  uint64_t step_ = 0;
  uint64_t signature_ = 0;
  uint64_t all_seen_ = 0;                 // every peer has been seen at this step or later
  uint64_t seen_[SPARKGAP_MAX_PES] = {};  // how far each peer was when last looked at
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_STEPS_H
