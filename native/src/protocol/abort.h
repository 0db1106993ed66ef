// Ending a world: one PE writes the reason into the control segment, every wait of every PE sees it.
#ifndef SPARKGAP_PROTOCOL_ABORT_H
#define SPARKGAP_PROTOCOL_ABORT_H

#include "base/error.h"
#include "protocol/atomics.h"
#include "protocol/control.h"

namespace sparkgap {

// Aborts the world if nobody has done so yet, and wakes all sleepers. Any thread. The first reason stays. PEs are
// numbered as in the world; `by` is one of this segment.
void abort_world(const Control& control, int32_t by, const Failure& failure);

// The same in the name of a PE of another node, whose label is given.
void abort_world_as(const Control& control, int32_t by, const char* label, const Failure& failure);

inline bool is_aborted(const Control& control) { return load_acquire(&control.header().abort_state) != kRunning; }

// Throws what an aborted world makes the calls of PE `pe` of the world fail with.
[[noreturn]] void fail_as_aborted(const Control& control, int32_t pe);

// Wakes every PE that sleeps in a wait.
void wake_all(ControlHeader& header);

// After a store that a peer may be waiting for. There is no fence between that store and the look at `sleepers`, which
// would cost more than the rest of a small collective: a peer that goes to sleep in between is not woken, and looks
// again by itself when its bounded sleep ends.
inline void wake_sleepers(ControlHeader& header) {
  if (__builtin_expect(load_relaxed(&header.sleepers) != 0, 0)) wake_all(header);
}

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_ABORT_H
