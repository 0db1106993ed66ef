// Collectives, and the routes that they take. See sparkgap.h.
//
// Every PE makes the same call with the same count, type, op and root. `in` and `out` may be any memory of this
// process. Large messages are read where they are (routes named .../direct), which saves a copy: where `in` lies in a
// symmetric buffer on every PE, and, by collectives that reduce nothing, where the kernel lets the PEs' processes read
// each other. `in` and `out` are either in place (as said below) or must not overlap.
#ifndef SPARKGAP_COLLECTIVES_H
#define SPARKGAP_COLLECTIVES_H

#include "sparkgap/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// The library is built with hidden visibility; what is declared here is what it shows.
#pragma GCC visibility push(default)

// in, out: count. In place: in == out.
sparkgap_status sparkgap_all_reduce(sparkgap_world* world, const void* in, void* out, uint64_t count, int32_t type,
                                    int32_t op);
// in: pes * count_per_pe, out: count_per_pe. In place: out == in + pe * count_per_pe elements.
sparkgap_status sparkgap_reduce_scatter(sparkgap_world* world, const void* in, void* out, uint64_t count_per_pe,
                                        int32_t type, int32_t op);
// in: count_per_pe, out: pes * count_per_pe. In place: in == out + pe * count_per_pe elements.
sparkgap_status sparkgap_all_gather(sparkgap_world* world, const void* in, void* out, uint64_t count_per_pe,
                                    int32_t type);
// in: count on root (not read elsewhere, may be NULL there), out: count. In place: in == out.
sparkgap_status sparkgap_broadcast(sparkgap_world* world, const void* in, void* out, uint64_t count, int32_t type,
                                   int32_t root);
// in: count, out: count on root (not written elsewhere, may be NULL there). In place: in == out.
sparkgap_status sparkgap_reduce(sparkgap_world* world, const void* in, void* out, uint64_t count, int32_t type,
                                int32_t op, int32_t root);
// in, out: pes * count_per_pe; block i of `in` goes to PE i. In place: in == out.
sparkgap_status sparkgap_all_to_all(sparkgap_world* world, const void* in, void* out, uint64_t count_per_pe,
                                    int32_t type);
// Each array has pes entries, in elements. What a PE sends to i must be what i receives from it, which is checked;
// where NCCL carries the call, only of what a PE sends to itself: other blocks that differ wait for the deadline there,
// or end with what came. In place: in == out with send_counts and send_offsets equal to receive_counts and
// receive_offsets.
sparkgap_status sparkgap_all_to_allv(sparkgap_world* world, const void* in, const uint64_t* send_counts,
                                     const uint64_t* send_offsets, void* out, const uint64_t* receive_counts,
                                     const uint64_t* receive_offsets, int32_t type);
sparkgap_status sparkgap_barrier(sparkgap_world* world);

// Waits until everything that this PE has enqueued is done; at most peer_timeout_ms. Host-memory calls are done when
// they return.
sparkgap_status sparkgap_synchronize(sparkgap_world* world);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif  // SPARKGAP_COLLECTIVES_H
