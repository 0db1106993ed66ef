// How a kernel waits: it polls; now and then it looks at the abort word and at the clock, and gives up with a record of
// what it waited for.
#ifndef SPARKGAP_DEVICE_WAIT_CUH
#define SPARKGAP_DEVICE_WAIT_CUH

#include "sparkgap/device/record.h"
#include "sparkgap/device_world.h"

namespace sparkgap::device {

// A poll takes about 0.3 us, a look about 1 us, because the abort word is in the host's memory.
constexpr uint32_t kPollsBetweenLooks = 256;

// Where a PE's own scratch has the word that is not 0 once a wait of the PE has given up: every later one does at once.
constexpr uint64_t kBrokenAt = 8;

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

__device__ inline uint8_t* scratch_of(const sparkgap_device_world& world, int32_t pe) {
  return static_cast<uint8_t*>(world.scratch[pe]);
}

__device__ inline uint32_t* broken_word(const sparkgap_device_world& world) {
  return reinterpret_cast<uint32_t*>(scratch_of(world, world.pe) + kBrokenAt);
}

// The clock that all of a GPU share, in ns; steps by up to 1 us.
__device__ inline uint64_t clock_ns() {
  uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

__device__ inline uint32_t load_volatile(const uint32_t* word) { return *static_cast<const volatile uint32_t*>(word); }

// Ends all waits of this PE. The first to come tells the host why.
__device__ inline void give_up(const sparkgap_device_world& world, WaitEnd end, const Awaited& awaited,
                               uint64_t expected, uint64_t seen) {
  if (atomicExch(broken_word(world), 1u) != 0) return;
  volatile sparkgap_wait_record* record = world.record;
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

// What a wait keeps from one look to the next: when the first was, in ns, and in the lowest bit whether the last has
// seen the awaited number with another signature. 0 before the first.
using Looks = uint64_t;
constexpr Looks kGaveUp = ~0ull;

// A look. Never inlined and all by value, to keep it, and the memory that references need, out of the polling loops.
// Only in two looks does another signature count: what is stored at once might be seen in parts.
static __device__ __noinline__ Looks look(const sparkgap_device_world& world, int32_t collective, int32_t peer,
                                          int32_t lane, uint32_t number, uint32_t signature, uint32_t seen_number,
                                          uint32_t seen_signature, Looks last) {
  if (load_volatile(broken_word(world)) != 0) return kGaveUp;
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

__device__ __forceinline__ Looks look(const sparkgap_device_world& world, const Awaited& awaited, const Seen& seen,
                                      Looks last) {
  return look(world, awaited.collective, awaited.peer, awaited.lane, awaited.number, awaited.signature, seen.number,
              seen.signature, last);
}

// Polls until `poll(&seen)` is true. False if it gave up. A poll is a volatile load; what the peer wrote before is read
// past the first-level cache (load_fresh), so it need not be an acquire, which empties that cache at every poll.
template <class Poll>
__device__ __forceinline__ bool wait_until(const sparkgap_device_world& world, const Awaited& awaited, Poll poll) {
  Seen seen = {};
  Looks looks = 0;
  for (uint32_t polls = 1; !poll(&seen); ++polls) {
    if (polls % kPollsBetweenLooks != 0) continue;
    looks = look(world, awaited, seen, looks);
    if (looks == kGaveUp) return false;
  }
  return true;
}

}  // namespace sparkgap::device

#endif  // SPARKGAP_DEVICE_WAIT_CUH
