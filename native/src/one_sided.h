// put, get, signal, waitSignal, fetchAdd on memory that this process can address. Arguments have been checked.
#ifndef SPARKGAP_ONE_SIDED_H
#define SPARKGAP_ONE_SIDED_H

#include <cstdint>

#include "world.h"

namespace sparkgap {

void put(Buffer& dst, uint64_t dst_offset, const void* src, uint64_t bytes, int32_t pe);
void get(void* dst, Buffer& src, uint64_t src_offset, uint64_t bytes, int32_t pe);
void signal(World& world, Buffer& buffer, uint64_t offset, int64_t value, int32_t signal_op, int32_t pe);
int64_t wait_signal(World& world, Buffer& buffer, uint64_t offset, int32_t comparison, int64_t value);
int64_t fetch_add(World& world, Buffer& target, uint64_t offset, int64_t delta, int32_t pe);

}  // namespace sparkgap

#endif  // SPARKGAP_ONE_SIDED_H
