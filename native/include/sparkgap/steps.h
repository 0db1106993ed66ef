// Steps: collectives and one-sided calls that are recorded once and then made as one call, again and again.
// Results are the same bits as of the calls one by one.
// See sparkgap.h.
#ifndef SPARKGAP_STEPS_H
#define SPARKGAP_STEPS_H

#include "sparkgap/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// The library is built with hidden visibility; what is declared here is what it shows.
#pragma GCC visibility push(default)

// From here to sparkgap_step_end or _drop, by the same thread, collectives and one-sided calls on this handle are
// checked and recorded, and not made; whether a PE records what the others record shows when they run. Nothing else can
// be part of a step: allocate, free, synchronize, finish, streams, events, a word to be written for the host
// (*observed, *before), another recording and the run of another step are refused with INVALID_ARGUMENT, and the
// recording goes on. In a GPU world the stream is captured meanwhile, so that whatever the caller enqueues on it
// becomes part of the step, too; host memory is refused. In a world in host memory only the calls are recorded.
sparkgap_status sparkgap_step_begin(sparkgap_world* world);

// *step is what was recorded, or NULL on failure: INVALID_ARGUMENT if the caller has done something meanwhile that a
// stream in capture does not bear. Either way nothing is recorded any more, and the world is as it was. The step keeps
// the addresses and the algorithms of its calls: private memory that they use has to stay until the step is destroyed,
// and the symmetric buffers cannot be freed before that. allToAllv's counts and offsets are copied.
sparkgap_status sparkgap_step_end(sparkgap_world* world, sparkgap_step** step);

// Forgets what was recorded.
sparkgap_status sparkgap_step_drop(sparkgap_world* world);

// Makes the calls in their order, each of them numbered, compared and limited in time as if it were made by itself; an
// error says which call of which step it was. On GPUs all is enqueued at once. Collective as its calls are: every PE
// runs a step with the same collectives. Allocates nothing.
sparkgap_status sparkgap_step_run(sparkgap_world* world, sparkgap_step* step);

// By which errors name it, from 1 in the order in which a handle records; 0 for NULL.
int32_t sparkgap_step_number(const sparkgap_step* step);

// How many calls it has, a put_signal being one; 0 for NULL.
int32_t sparkgap_step_calls(const sparkgap_step* step);

// Not collective. On GPUs what is enqueued runs to its end. The world's end destroys those that are left.
sparkgap_status sparkgap_step_destroy(sparkgap_world* world, sparkgap_step* step);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif  // SPARKGAP_STEPS_H
