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
  uint32_t signature;
};

// What a poll has found where it looked; for the record, and to tell a late PE from one that has made another call.
struct Seen {
  uint32_t number;
  uint32_t signature;
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
  record->place.step = world.place.step;
  record->place.call = world.place.call;
  __threadfence_system();
  record->end = static_cast<uint32_t>(end);
}

// Every kernel of a collective may be set up while the one before it in the stream still runs. Before it does what
// others see, and before it reads what is not its world's own, it waits for that one's end; and only then it lets the
// next be set up: never more than two of a PE are on the GPU.
__device__ __forceinline__ void await_kernel_before() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void let_next_start() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
__device__ __forceinline__ void meet_launch_order() {
  await_kernel_before();
  let_next_start();
}

// Keeps the compiler from working `address` out only where it is used, behind await_kernel_before().
template <class Value>
__device__ __forceinline__ void work_out_here(Value*& address) {
  asm volatile("" : "+l"(address));
}

// What a wait keeps from one look to the next: when the first was, in ns, and in the lowest bit whether the last has
// seen the awaited number with another signature. 0 before the first.
using Looks = uint64_t;
constexpr Looks kGaveUp = ~0ull;

// A look. Never inlined and all by value, to keep it, and the memory that references need, out of the polling loops.
// Only in two looks does another signature count: what is stored at once might be seen in parts.
static __device__ __noinline__ Looks look(const KernelWorld& world, int32_t collective, int32_t peer, int32_t lane,
                                          uint32_t number, uint32_t signature, uint32_t seen_number,
                                          uint32_t seen_signature, Looks last) {
  if (load_volatile(&counters_of(world)->broken) != 0) return kGaveUp;
  const Awaited awaited = {collective, peer, lane, number, signature};
  const uint64_t now = clock_ns() & ~1ull;
  const uint64_t since = last == 0 ? now : last & ~1ull;
  const bool differs = seen_number == number && seen_signature != signature;
  if (load_volatile(world.abort_word) != 0) {
    give_up(world, WaitEnd::kAborted, awaited, number, seen_number);
  } else if (differs && (last & 1) != 0) {
    give_up(world, WaitEnd::kCallsDiffer, awaited, signature, seen_signature);
  } else if (now - since > world.deadline_ns) {
    give_up(world, WaitEnd::kDeadline, awaited, number, seen_number);
  } else {
    return since | (differs ? 1 : 0);
  }
  return kGaveUp;
}

__device__ __forceinline__ Looks look(const KernelWorld& world, const Awaited& awaited, const Seen& seen, Looks last) {
  return look(world, awaited.collective, awaited.peer, awaited.lane, awaited.number, awaited.signature, seen.number,
              seen.signature, last);
}

// Polls until `poll(&seen)` is true. False if it gave up. A poll is a volatile load; what the peer wrote before is read
// past the first-level cache (load_fresh), so it need not be an acquire, which empties that cache at every poll.
template <class Poll>
__device__ __forceinline__ bool wait_until(const KernelWorld& world, const Awaited& awaited, Poll poll) {
  Seen seen = {};
  Looks looks = 0;
  for (uint32_t polls = 1; !poll(&seen); ++polls) {
    if (polls % kPollsBetweenLooks != 0) continue;
    looks = look(world, awaited, seen, looks);
    if (looks == kGaveUp) return false;
  }
  return true;
}

// The parameters of a kernel, or a part of them, are read once before the wait for the kernel before, so that they are
// at hand behind it: the first reading of each 64 bytes takes a third of a microsecond.
template <class Parameters>
__device__ __forceinline__ void fetch_parameters(const Parameters& parameters) {
  const uint32_t* words = reinterpret_cast<const uint32_t*>(&parameters);
#pragma unroll
  for (uint64_t at = 0; at < sizeof(Parameters) / sizeof(uint32_t); at += 16) {
    asm volatile("" ::"r"(words[at]));
  }
}

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_PROTOCOL_WAIT_CUH
