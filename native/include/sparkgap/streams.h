// Streams and events, of GPU worlds (INVALID_ARGUMENT in a host world). See sparkgap.h.
#ifndef SPARKGAP_STREAMS_H
#define SPARKGAP_STREAMS_H

#include "sparkgap/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// The library is built with hidden visibility; what is declared here is what it shows.
#pragma GCC visibility push(default)

// The cudaStream_t that calls are enqueued on; NULL in a host world or before connect.
void* sparkgap_world_stream(sparkgap_world* world);

// Enqueues all further calls on `cuda_stream`, a cudaStream_t of the world's GPU that the caller owns and keeps until
// the world is on another stream; NULL: back to the world's own. The new stream waits for what is on the old one. The
// stream may be capturing a CUDA graph: collectives on device memory can be captured, and replayed as long as all PEs
// replay the same.
sparkgap_status sparkgap_world_set_stream(sparkgap_world* world, void* cuda_stream);

// A point in the stream. Destroy it before the world. *event is NULL on failure.
sparkgap_status sparkgap_event_create(sparkgap_world* world, sparkgap_event** event);
// The point is the end of all that is enqueued now.
sparkgap_status sparkgap_event_record(sparkgap_world* world, sparkgap_event* event);
// The stream waits for the point; the host does not.
sparkgap_status sparkgap_event_wait(sparkgap_world* world, sparkgap_event* event);
// The host waits for the point, like sparkgap_synchronize.
sparkgap_status sparkgap_event_synchronize(sparkgap_world* world, sparkgap_event* event);
// Time between two points that have been reached.
sparkgap_status sparkgap_event_elapsed_us(sparkgap_world* world, sparkgap_event* start, sparkgap_event* end,
                                          double* microseconds);
// NULL is accepted.
void sparkgap_event_destroy(sparkgap_event* event);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif  // SPARKGAP_STREAMS_H
