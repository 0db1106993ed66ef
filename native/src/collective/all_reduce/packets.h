// allReduce, one-shot with packets: for messages of at most kMaxPacketDataBytes.
//
//   in --56 bytes a line--> own packets | the others' packets, as they arrive --> scratch | all --reduce--> out
//
// One step. Data and flag cross in one cache line, so the time is one transfer between cores and the copies. Any
// memory, in place or not.
#ifndef SPARKGAP_COLLECTIVE_ALL_REDUCE_PACKETS_H
#define SPARKGAP_COLLECTIVE_ALL_REDUCE_PACKETS_H

#include "reduce/reduce.h"
#include "world.h"

namespace sparkgap {

void all_reduce_packets(World& world, const void* in, void* out, uint64_t count, uint64_t element_bytes,
                        ReduceFunction reduce);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_ALL_REDUCE_PACKETS_H
