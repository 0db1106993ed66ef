// How a kernel waits: it polls; now and then it looks at the abort word and at the clock, and gives up with a record of
// what it waited for.
#ifndef SPARKGAP_PROTOCOL_WAIT_CUH
#define SPARKGAP_PROTOCOL_WAIT_CUH

#include "protocol/scratch.h"

namespace sparkgap::kernels {

// A poll takes about 0.3 us, a look about 1 us, because the abort word is in the host's memory.
constexpr uint32_t kPollsBetweenLooks = 256;

struct Awaited {
  int32_t collective;
  int32_t peer;
  int32_t lane;
  uint32_t number;
};

__device__ inline Counters* counters_of(const KernelWorld& world) {
  return static_cast<Counters*>(world.scratch[world.pe]);
}

__device__ inline uint8_t* scratch_of(const KernelWorld& world, int32_t pe) {
  return static_cast<uint8_t*>(world.scratch[pe]);
}

// The clock that all of a GPU share, in ns; steps by up to 1 us.
__device__ inline uint64_t clock_ns() {
  uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

__device__ inline uint32_t load_volatile(const uint32_t* word) { return *static_cast<const volatile uint32_t*>(word); }

// Ends all waits of this PE. The first to come tells the host why.
__device__ inline void give_up(const KernelWorld& world, WaitEnd end, const Awaited& awaited, uint64_t expected,
                               uint64_t seen) {
  if (atomicExch(&counters_of(world)->broken, 1u) != 0) return;
  volatile WaitRecord* record = world.record;
  record->collective = awaited.collective;
  record->peer = awaited.peer;
  record->lane = awaited.lane;
  record->expected = expected;
  record->seen = seen;
  __threadfence_system();
  record->end = static_cast<uint32_t>(end);
}

// Begins every kernel of a collective. Launched so that it may be set up while the one before it in the stream still
// runs, it waits for that one's end, and only then lets the next be set up: never more than two of a PE are on the GPU.
__device__ __forceinline__ void meet_launch_order() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;\n griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// A look. `since`: when the first look of this wait was, 0 before it. Never inlined, to keep it out of the polling
// loops.
static __device__ __noinline__ bool must_give_up(const KernelWorld& world, const Awaited& awaited, uint32_t seen,
                                                 uint64_t* since) {
  if (load_volatile(&counters_of(world)->broken) != 0) return true;
  const uint64_t now = clock_ns();
  if (*since == 0) *since = now;
  WaitEnd end = WaitEnd::kNone;
  if (load_volatile(world.abort_word) != 0) {
    end = WaitEnd::kAborted;
  } else if (now - *since > world.deadline_ns) {
    end = WaitEnd::kDeadline;
  } else {
    return false;
  }
  give_up(world, end, awaited, awaited.number, seen);
  return true;
}

// Polls until `poll(&seen)` is true; `seen` is for the record. False if it gave up.
template <class Poll>
__device__ __forceinline__ bool wait_until(const KernelWorld& world, const Awaited& awaited, Poll poll) {
  uint32_t seen = 0;
  if (poll(&seen)) return true;
  uint64_t since = 0;
  for (uint32_t polls = 1;; ++polls) {
    if (poll(&seen)) return true;
    if (polls % kPollsBetweenLooks == 0 && must_give_up(world, awaited, seen, &since)) return false;
  }
}

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_PROTOCOL_WAIT_CUH
