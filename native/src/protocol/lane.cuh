// A lane's steps: what every collective but the smallest is made of.
//
// In step s a PE writes into its slot s % 2 at each peer, then exchanges: it raises its flag to s at every peer and
// waits until every peer's flag here is at s. Then it reads what the peers have written into its own slots s % 2, and
// may write into the slots of step s + 1 at the peers: their flags say that they have read all of step s - 1.
//
// All threads of the block make the same calls.
#ifndef SPARKGAP_PROTOCOL_LANE_CUH
#define SPARKGAP_PROTOCOL_LANE_CUH

#include "protocol/wait.cuh"

namespace sparkgap::kernels {

class Lane {
 public:
  __device__ Lane(const KernelWorld& world, int32_t collective, uint32_t signature)
      : world_(world), collective_(collective), signature_(signature), lane_(blockIdx.x), step_(begin_step(world)) {}

  // Where this PE writes for `peer` in this step, or in the next.
  __device__ uint8_t* slot_at_peer(int32_t peer) const { return slot(peer, world_.pe, step_); }
  __device__ uint8_t* next_slot_at_peer(int32_t peer) const { return slot(peer, world_.pe, step_ + 1); }

  // What `source` wrote here in this step.
  __device__ const uint8_t* slot_of(int32_t source) const { return slot(world_.pe, source, step_); }

  // The PE `distance` after this one: so that PEs do not all write to the same peer at once.
  __device__ int32_t neighbour(int32_t distance) const {
    const int32_t pe = world_.pe + distance;
    return pe < world_.pes ? pe : pe - world_.pes;
  }

  // Everything that the block has written before is seen by the peers when they come out of their exchange of this
  // step. False if a wait gave up: then the kernel has to end. Afterwards agrees() says whether all PEs have the same
  // place.
  __device__ bool exchange(uint64_t place) {
    __syncthreads();
    const int32_t peer = threadIdx.x;
    bool came = true;
    bool same = place != 0;
    if (peer < world_.pes && peer != world_.pe) {
      raise_flag(peer, place);
      uint64_t theirs = 0;
      came = await_flag(peer, &theirs);
      same = same && theirs == place;
    }
    agrees_ = __syncthreads_and(same) != 0;
    return __syncthreads_and(came) != 0;
  }

  __device__ bool agrees() const { return agrees_; }

  __device__ uint32_t step() const { return step_; }

  __device__ void next_step() { ++step_; }

  // Numbers that the caller has given out itself; the next exchange has the one after them. All PEs do the same.
  __device__ void next_steps(uint32_t steps) { step_ += steps; }

  // At the end of the kernel, after the exchange of the last step.
  __device__ void finish() const {
    __syncthreads();
    if (threadIdx.x == 0) counters_of(world_)->steps[lane_] = step_;
  }

  // Ends the kernel's waits for another reason than time, from one thread.
  __device__ void refuse(WaitEnd end, int32_t peer, uint64_t expected, uint64_t seen) const {
    give_up(world_, end, awaited(peer), expected, seen);
  }

 private:
  static __device__ uint32_t begin_step(const KernelWorld& world) {
    meet_launch_order();
    return load_volatile(&counters_of(world)->steps[blockIdx.x]) + 1;
  }

  __device__ uint8_t* slot(int32_t at, int32_t source, uint32_t step) const {
    return scratch_of(world_, at) + kernels::slot_at(world_.pes, lane_, step % kParities, source);
  }

  __device__ FlagRecord* flag(int32_t at, int32_t source) const {
    return reinterpret_cast<FlagRecord*>(scratch_of(world_, at) + flag_at(lane_, step_ % kParities, source));
  }

  __device__ Awaited awaited(int32_t peer) const {
    return {collective_, peer, static_cast<int32_t>(lane_), step_, signature_};
  }

  __device__ void raise_flag(int32_t peer, uint64_t place) const {
    FlagRecord* record = flag(peer, world_.pe);
    *const_cast<volatile uint32_t*>(&record->signature) = signature_;
    *const_cast<volatile uint64_t*>(&record->place) = place;
    // Makes what the block wrote before __syncthreads, and the rest of the record, visible before the flag.
    __threadfence_system();
    *const_cast<volatile uint32_t*>(&record->step) = step_;
  }

  // The record is read whole: what is seen with the step was written before it.
  __device__ bool await_flag(int32_t peer, uint64_t* place) const {
    const FlagRecord* record = flag(world_.pe, peer);
    return wait_until(world_, awaited(peer), [&](Seen* seen) {
      uint32_t low, high;
      asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(seen->number), "=r"(seen->signature), "=r"(low), "=r"(high)
                   : "l"(record)
                   : "memory");
      *place = static_cast<uint64_t>(high) << 32 | low;
      return seen->number == step_ && seen->signature == signature_;
    });
  }

  const KernelWorld& world_;
  const int32_t collective_;
  const uint32_t signature_;
  const uint32_t lane_;
  uint32_t step_;
  bool agrees_ = false;
};

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_PROTOCOL_LANE_CUH
