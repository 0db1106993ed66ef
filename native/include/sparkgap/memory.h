// The symmetric heap, and one-sided calls on it. See sparkgap.h.
#ifndef SPARKGAP_MEMORY_H
#define SPARKGAP_MEMORY_H

#include "sparkgap/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// The library is built with hidden visibility; what is declared here is what it shows.
#pragma GCC visibility push(default)

// Collective: `bytes` on every PE, zeroed, aligned to 4096. All PEs must ask for the same number.
sparkgap_status sparkgap_allocate(sparkgap_world* world, uint64_t bytes, sparkgap_buffer** buffer);

// Collective in that every PE frees the same buffers in the same order, between the same calls, but none waits: the
// memory goes when the last PE has freed its end. Where PEs free in another order, or on another side of a call, the
// next call that waits fails with MISMATCH. The buffer must not be used afterwards.
sparkgap_status sparkgap_free(sparkgap_world* world, sparkgap_buffer* buffer);

// This PE's part; NULL only for a buffer of zero bytes. A device address in a GPU world.
void* sparkgap_buffer_address(const sparkgap_buffer* buffer);
uint64_t sparkgap_buffer_bytes(const sparkgap_buffer* buffer);

// Where this process sees `pe`'s part; NULL if that PE's memory cannot be addressed directly.
void* sparkgap_buffer_peer_address(const sparkgap_buffer* buffer, int32_t pe);

// One-sided calls. Offsets are into `pe`'s part of the buffer; ranges are checked. Signals are 64-bit, aligned to 8.
// In a GPU world these are enqueued, too; those that write a result for the host (*observed, *before, a `dst` in host
// memory) or read host memory return when they are done.

// Returns when `src` may be reused; a `src` in device memory, when what is enqueued after may write it. The data is
// visible to `pe` after the next barrier or a signal sent after it.
sparkgap_status sparkgap_put(sparkgap_world* world, sparkgap_buffer* dst, uint64_t dst_offset, const void* src,
                             uint64_t bytes, int32_t pe);
sparkgap_status sparkgap_get(sparkgap_world* world, void* dst, sparkgap_buffer* src, uint64_t src_offset,
                             uint64_t bytes, int32_t pe);
// As put; then the signal, which `pe` sees only after the data.
sparkgap_status sparkgap_put_signal(sparkgap_world* world, sparkgap_buffer* dst, uint64_t dst_offset, const void* src,
                                    uint64_t bytes, sparkgap_buffer* signal, uint64_t signal_offset, int64_t value,
                                    int32_t signal_op, int32_t pe);
sparkgap_status sparkgap_signal(sparkgap_world* world, sparkgap_buffer* signal, uint64_t signal_offset, int64_t value,
                                int32_t signal_op, int32_t pe);
// Waits until this PE's signal compares true with `value`; the value that did is written to *observed,
// unless that is NULL.
sparkgap_status sparkgap_wait_signal(sparkgap_world* world, sparkgap_buffer* signal, uint64_t signal_offset,
                                     int32_t comparison, int64_t value, int64_t* observed);
sparkgap_status sparkgap_fetch_add(sparkgap_world* world, sparkgap_buffer* target, uint64_t offset, int64_t delta,
                                   int32_t pe, int64_t* before);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif  // SPARKGAP_MEMORY_H
