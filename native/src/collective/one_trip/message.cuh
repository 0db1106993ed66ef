// A call in packets or lines: where what it sends and gets is, and how each PE comes to hear from every other.
#ifndef SPARKGAP_COLLECTIVE_ONE_TRIP_MESSAGE_CUH
#define SPARKGAP_COLLECTIVE_ONE_TRIP_MESSAGE_CUH

#include "collective/one_trip/trip.cuh"
#include "protocol/line.cuh"

namespace sparkgap::kernels {

// A call in packets or lines: its number and its parity of the scratch.
class Message {
 public:
  // In front of await_kernel_before(). The block makes it together.
  __device__ explicit Message(const Trip& trip) : trip_(trip), stamp_{next_number(trip.world), trip.signature} {}

  __device__ const Stamp& stamp() const { return stamp_; }

  __device__ Packet* packets_to(int32_t peer) const {
    return reinterpret_cast<Packet*>(scratch_of(trip_.world, peer) +
                                     trip_.places.packets(peer, parity(), trip_.world.pe));
  }
  __device__ const Packet* packets_from(int32_t source) const {
    return reinterpret_cast<const Packet*>(scratch_of(trip_.world, trip_.world.pe) +
                                           trip_.places.packets(trip_.world.pe, parity(), source));
  }
  __device__ Line* lines_to(int32_t peer) const {
    return reinterpret_cast<Line*>(scratch_of(trip_.world, peer) + trip_.places.lines(peer, parity(), trip_.world.pe));
  }
  __device__ Line* lines_from(int32_t source) const {
    return reinterpret_cast<Line*>(scratch_of(trip_.world, trip_.world.pe) +
                                   trip_.places.lines(trip_.world.pe, parity(), source));
  }
  __device__ uint8_t* hidden_to(int32_t peer) const {
    return scratch_of(trip_.world, peer) + trip_.places.hidden(peer, parity(), trip_.world.pe);
  }
  __device__ uint8_t* hidden_from(int32_t source) const {
    return scratch_of(trip_.world, trip_.world.pe) + trip_.places.hidden(trip_.world.pe, parity(), source);
  }

  __device__ Awaited awaited(int32_t source) const {
    return {trip_.collective, source, static_cast<int32_t>(blockIdx.x), stamp_.number, stamp_.signature};
  }

  // An empty packet to each PE that gets no packets of data, and the wait for those of the PEs that send none: so that
  // each hears from all. By one thread of the grid each; false if a wait gave up.
  __device__ void greet(bool data_in_packets) const {
    const int32_t peer = threadIdx.x;
    if (blockIdx.x != 0 || !is_other(peer) || (data_in_packets && trip_.has_data(trip_.world.pe, peer))) return;
    store_packet(packets_to(peer), 0, stamp_);
  }
  __device__ bool await_greetings(bool data_in_packets) const {
    const int32_t source = threadIdx.x;
    if (blockIdx.x != 0 || !is_other(source) || (data_in_packets && trip_.has_data(source, trip_.world.pe))) {
      return true;
    }
    return await_greeting(source);
  }
  __device__ bool await_greeting(int32_t source) const {
    uint64_t nothing;
    return receive_packet(trip_.world, awaited(source), packets_from(source), &nothing);
  }

  __device__ bool is_other(int32_t pe) const { return pe < trip_.world.pes && pe != trip_.world.pe; }

 private:
  // The blocks of a call take kMaxLanes tickets together, however many they are, so each ticket tells the number of the
  // call. The kernel before has taken its own before it let this one be set up, so there is no need to wait for its
  // end.
  static __device__ uint32_t next_number(const KernelWorld& world) {
    __shared__ uint32_t number;
    if (threadIdx.x == 0) {
      const uint32_t tickets = blockIdx.x == 0 ? kMaxLanes - gridDim.x + 1 : 1;
      number = static_cast<uint32_t>(atomicAdd(&counters_of(world)->tickets, tickets) / kMaxLanes) + 1;
    }
    __syncthreads();
    return number;
  }

  __device__ uint32_t parity() const { return stamp_.number % kParities; }

  const Trip& trip_;
  const Stamp stamp_;
};

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_ONE_TRIP_MESSAGE_CUH
