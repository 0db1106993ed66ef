// put, get, signal, waitSignal, fetchAdd on memory that this process, or its GPU, can address. Arguments have been
// checked. In a GPU world they are enqueued; what returns a value waits for it.
#ifndef SPARKGAP_ONE_SIDED_H
#define SPARKGAP_ONE_SIDED_H

#include <cstdint>

#include "world.h"

namespace sparkgap {

void put(World& world, Buffer& dst, uint64_t dst_offset, const void* src, uint64_t bytes, int32_t pe);
void get(World& world, void* dst, Buffer& src, uint64_t src_offset, uint64_t bytes, int32_t pe);
void signal(World& world, Buffer& buffer, uint64_t offset, int64_t value, int32_t signal_op, int32_t pe);
// `observed` and `before` may be nullptr: then a GPU world does not wait.
void wait_signal(World& world, Buffer& buffer, uint64_t offset, int32_t comparison, int64_t value, int64_t* observed);
void fetch_add(World& world, Buffer& target, uint64_t offset, int64_t delta, int32_t pe, int64_t* before);

}  // namespace sparkgap

#endif  // SPARKGAP_ONE_SIDED_H
