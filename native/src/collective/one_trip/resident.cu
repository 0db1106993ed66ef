// The resident kernel: small calls in packets, one after the other, whose arrays come from the host and go back to it.
//
//   board    command   | packet of head 0 | ... | packet of in 0 | packet of in 1 | ...    host memory, mapped: written
//                                                                                         by the host, polled here
//            answer    | packet of out 0 | packet of out 1 | ...                          written here, polled there
//
// One block. Thread t polls packet t of the command, as far as the last command had so many, and puts it into shared
// memory; the block makes the call there, word w of every message by thread w (turn.cuh), and thread w writes word w of
// the answer. A packet has its number beside its data on this way, too, so there is no fence on it and
// no second word to read: a reading of the host's memory takes the GPU 1 us.
//
// On the link a call is what it is by itself (packets.cu). It takes its number from the tickets that all calls take;
// the host rings only while no other call of the world is under way. Where it knows that none has been since the last
// command, the number is the next one, and the ticket is fetched while the packets are on their way.
//
// Rotation: that of whole kernels (protocol/scratch.h), since the block meets between two calls.
// Requires: kResidentBytes at most for each of a message, `in` and `out`.
#include "collective/one_trip/turn.cuh"
#include "collective/resident.h"

namespace sparkgap::kernels {
namespace {

// Thread t reads packet t of the command.
constexpr uint32_t kThreads = (kResidentHeadWords + kResidentWords + 31) / 32 * 32;
static_assert(kThreads >= kParities * kMaxPes);

// A reading takes 1 us.
constexpr uint32_t kReadingsBetweenLooks = 32;

struct Parameters {
  KernelWorld world;
  Places places;
  ResidentBoard* board;
  uint64_t launch;
  uint64_t idle_ns;
  uint32_t next;
};

__device__ __forceinline__ Packet load_packet(const Packet* packet) {
  Packet read;
  asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(read.low), "=r"(read.number), "=r"(read.high), "=r"(read.check)
               : "l"(packet)
               : "memory");
  return read;
}

// By the block: whether command `number` is all there, and if so, its words, seen by all threads. Reads `*asked`
// packets, and leaves there how many the command has.
__device__ __forceinline__ bool read_command(const ResidentBoard* board, uint32_t number, uint32_t* asked,
                                             uint64_t* words) {
  const uint32_t at = threadIdx.x;
  Packet packet = {};
  if (at < *asked) packet = load_packet(board->command + at);
  const bool is_here = packet.number == number && packet.check == number;
  if (is_here) words[at] = static_cast<uint64_t>(packet.high) << 32 | packet.low;
  if (!__syncthreads_and(at >= kResidentHeadWords || is_here)) return false;
  const uint32_t in_words = reinterpret_cast<const ResidentCommand*>(words)->in_words;
  *asked = kResidentHeadWords + (in_words < kResidentWords ? in_words : kResidentWords);
  return __syncthreads_and(at >= *asked || is_here) != 0;
}

// By the block. False if it is time to leave.
__device__ __forceinline__ bool await_command(const Parameters& parameters, uint32_t number, uint32_t* asked,
                                              uint64_t* words) {
  const KernelWorld& world = parameters.world;
  const uint64_t since = clock_ns();
  for (uint32_t readings = 1; !read_command(parameters.board, number, asked, words); ++readings) {
    if (readings % kReadingsBetweenLooks != 0) continue;
    const bool leaves =
        threadIdx.x == 0 && (load_volatile(world.abort_word) != 0 || load_volatile(broken_word(world)) != 0 ||
                             clock_ns() - since > parameters.idle_ns);
    if (__syncthreads_or(leaves)) return false;
  }
  return true;
}

__device__ __forceinline__ TripCall call_of(const KernelWorld& world, const ResidentCommand& head, const uint64_t* in,
                                            uint64_t* out) {
  TripCall call = {};
  call.in = reinterpret_cast<const uint8_t*>(in);
  call.out = reinterpret_cast<uint8_t*>(out);
  call.bytes = head.bytes;
  call.in_stride = (head.flags & kResidentInBlocks) != 0 ? head.bytes : 0;
  call.out_stride = (head.flags & kResidentOutBlocks) != 0 ? head.bytes : 0;
  call.senders = head.senders;
  call.receivers = head.receivers;
  call.signature = head.signature;
  call.collective = head.collective;
  call.op = head.op;
  call.divisor = head.op == SPARKGAP_AVG ? world.pes : 0;
  return call;
}

__global__ void __launch_bounds__(kThreads) packets_resident(const __grid_constant__ Parameters parameters) {
  __shared__ uint64_t words[kResidentHeadWords + kResidentWords];
  __shared__ uint64_t out[kResidentWords];
  __shared__ PacketRows rows;
  __shared__ uint32_t ticket;
  const KernelWorld& world = parameters.world;
  const auto& head = *reinterpret_cast<const ResidentCommand*>(words);
  rows.fill(world, parameters.places);
  uint32_t asked = kResidentHeadWords;
  uint32_t last = 0;  // number of the last call; 0: this launch has made none
#pragma unroll 1
  for (uint32_t number = parameters.next;; number = next_command(number)) {
    if (!await_command(parameters, number, &asked, words) || (head.flags & kResidentStops) != 0) break;
    unsigned long long taken = 0;
    if (threadIdx.x == 0) taken = atomicAdd(&counters_of(world)->tickets, static_cast<unsigned long long>(kMaxLanes));
    if ((head.flags & kResidentIsNext) != 0 && last != 0) {
      ++last;
    } else {
      if (threadIdx.x == 0) ticket = static_cast<uint32_t>(taken / kMaxLanes) + 1;
      __syncthreads();
      last = ticket;
    }
    const TripCall call = call_of(world, head, words + kResidentHeadWords, out);
    const uint32_t answers = head.out_words > 0 ? head.out_words : 1;
    const Turn turn = {world, rows, call, {last, call.signature}, 0, threadIdx.x};
    turn.greet();
    bool fine = turn.take(head.type) && turn.await_greetings();
    // The ticket has been counted before the host hears that the call is done, and lets others take the next.
    asm volatile("" ::"l"(taken) : "memory");
    fine = __syncthreads_and(fine) != 0;
    if (!fine) break;
    if (threadIdx.x < answers) store_packet(parameters.board->answer + threadIdx.x, out[threadIdx.x], {number, 0});
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence_system();
  *const_cast<volatile uint64_t*>(&parameters.board->left) = parameters.launch;
}

}  // namespace

ResidentCommand resident_command(const KernelWorld& world, const CollectiveCall& call, uint64_t read,
                                 uint64_t written) {
  KernelCall asked = {};
  static_cast<CollectiveCall&>(asked) = call;
  asked.signature = signature_of(asked);
  const TripCall trip = trip_of(world, asked);
  ResidentCommand command = {};
  command.bytes = static_cast<uint32_t>(trip.bytes);
  command.in_words = static_cast<uint32_t>((read + kWordBytes - 1) / kWordBytes);
  command.out_words = static_cast<uint32_t>((written + kWordBytes - 1) / kWordBytes);
  command.signature = trip.signature;
  command.senders = static_cast<uint16_t>(trip.senders);
  command.receivers = static_cast<uint16_t>(trip.receivers);
  command.collective = static_cast<int16_t>(trip.collective);
  command.type = static_cast<int16_t>(description_of(call).has_op ? call.type : -1);
  command.op = static_cast<int16_t>(trip.op);
  if (trip.in_stride != 0) command.flags |= kResidentInBlocks;
  if (trip.out_stride != 0) command.flags |= kResidentOutBlocks;
  return command;
}

int32_t launch_resident(const KernelWorld& world, CUstream_st* stream, ResidentBoard* board, uint32_t next,
                        uint64_t launch, uint64_t idle_ns) {
  const Parameters parameters = {world, places_of(static_cast<uint64_t>(world.pes)), board, launch, idle_ns, next};
  packets_resident<<<1, kThreads, 0, stream>>>(parameters);
  return cudaGetLastError();
}

int32_t prepare_resident() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(packets_resident));
}

}  // namespace sparkgap::kernels
