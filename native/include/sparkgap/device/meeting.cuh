// How the blocks of one kernel meet, with a deadline.
#ifndef SPARKGAP_DEVICE_MEETING_CUH
#define SPARKGAP_DEVICE_MEETING_CUH

#include "sparkgap/device/exchange.h"
#include "sparkgap/device/wait.cuh"

namespace sparkgap::device {

// By one thread of each of `blocks` blocks, behind a barrier of its block and before another: what any block has
// written before is seen by all afterwards. False if they do not all come. `collective` and `lane` are for the record.
__device__ __forceinline__ bool meet(const sparkgap_device_world& world, Meeting* meeting, uint32_t blocks,
                                     int32_t collective, int32_t lane) {
  // It stays while this block has not arrived.
  const uint32_t turn = load_volatile(&meeting->turn);
  __threadfence();
  if (atomicAdd(&meeting->arrived, 1u) + 1 == blocks) {
    *const_cast<volatile uint32_t*>(&meeting->arrived) = 0;
    __threadfence();
    *const_cast<volatile uint32_t*>(&meeting->turn) = turn + 1;
    return true;
  }
  const Awaited awaited = {collective, -1, lane, turn + 1, 0};
  const bool came = wait_until(world, awaited, [&](Seen* seen) {
    seen->number = load_volatile(&meeting->turn);
    return seen->number != turn;
  });
  __threadfence();
  return came;
}

}  // namespace sparkgap::device

#endif  // SPARKGAP_DEVICE_MEETING_CUH
