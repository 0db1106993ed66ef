// A call in packets or lines: where what it sends and gets is, and how each PE comes to hear from every other.
#ifndef SPARKGAP_COLLECTIVE_ONE_TRIP_MESSAGE_CUH
#define SPARKGAP_COLLECTIVE_ONE_TRIP_MESSAGE_CUH

#include "collective/one_trip/trip.cuh"
#include "protocol/packet.cuh"

namespace sparkgap::kernels {

// A call in packets or lines: its number and its parity of the scratch.
class Message {
 public:
  // Waits for the kernel before this one in the stream.
  __device__ explicit Message(const Trip& trip) : trip_(trip) {
    meet_launch_order();
    stamp_ = {load_volatile(&counters_of(trip.world)->messages[blockIdx.x]) + 1, trip.signature};
  }

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
  __device__ const Line* lines_from(int32_t source) const {
    return reinterpret_cast<const Line*>(scratch_of(trip_.world, trip_.world.pe) +
                                         trip_.places.lines(trip_.world.pe, parity(), source));
  }

  __device__ Awaited awaited(int32_t source) const {
    return {trip_.collective, source, static_cast<int32_t>(blockIdx.x), stamp_.number, stamp_.signature};
  }

  // Once a block has read the number: it counts for all lanes, whatever the next call's shape. The block meets.
  __device__ void count() const {
    __syncthreads();
    for (uint32_t lane = blockIdx.x + threadIdx.x * gridDim.x; lane < kMaxLanes; lane += gridDim.x * blockDim.x) {
      counters_of(trip_.world)->messages[lane] = stamp_.number;
    }
  }

  // An empty packet to each PE that gets no data, and the wait for those of the PEs that send none: so that each hears
  // from all. By one thread of the grid each; false if a wait gave up.
  __device__ void greet() const {
    const int32_t peer = threadIdx.x;
    if (blockIdx.x != 0 || !is_other(peer) || trip_.has_data(trip_.world.pe, peer)) return;
    store_packet(packets_to(peer), 0, stamp_);
  }
  __device__ bool await_greetings() const {
    const int32_t source = threadIdx.x;
    if (blockIdx.x != 0 || !is_other(source) || trip_.has_data(source, trip_.world.pe)) return true;
    uint64_t nothing;
    return receive_packet(trip_.world, awaited(source), packets_from(source), &nothing);
  }

 private:
  __device__ uint32_t parity() const { return stamp_.number % kParities; }
  __device__ bool is_other(int32_t pe) const { return pe < trip_.world.pes && pe != trip_.world.pe; }

  const Trip& trip_;
  Stamp stamp_;
};

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_ONE_TRIP_MESSAGE_CUH
