#include "protocol/steps.h"

namespace sparkgap {

void Steps::see_all(uint64_t step) {
  for (int32_t i = 1; i < pes_; ++i) see(neighbour(i), step);
  all_seen_ = step;
}

// Those that need this core first: while this PE spins for another, they could not run.
void Steps::let_peers_run() {
  for (int32_t i = 1; i < pes_; ++i) {
    const int32_t peer = neighbour(i);
    if (seen_[peer] < step_ && waiter_->needs_this_core(peer)) see(peer, step_);
  }
}

void Steps::refuse_call_of(int32_t peer) {
  waiter_->compare_calls(peer);
  // The peer is too far ahead for its call of this number to be known still.
  Failure failure;
  failure.status = SPARKGAP_MISMATCH;
  failure.pe = control_.world_pe(peer);
  const CallLine& own = control_.call_line(pe_);
  Text text(failure.message, sizeof failure.message);
  text.add("PE %d (%s) is in ", control_.world_pe(pe_), control_.label(pe_).c_str());
  describe_call(text, own.begun, own.signature[own.begun % kCallsKept]);
  text.add(", but PE %d (%s) posted data of another call", control_.world_pe(peer), control_.label(peer).c_str());
  waiter_->give_up(failure);
}

}  // namespace sparkgap
