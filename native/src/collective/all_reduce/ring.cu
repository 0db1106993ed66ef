// allReduce, ring in PE order: for large messages where GPUs are linked by PCI Express, whose bandwidth is that of the
// slowest link that all have to share.
//
// Piece by piece PE 0 sends its data to PE 1, which adds its own and sends the sum to PE 2, and so on; the last PE has
// the sum in PE order and passes the result on, round the ring, to 0, 1, ... and the last but one. (A pipelined chain,
// not the reduce-scatter ring, which would add each part in another order.) Each link carries the message twice at
// most, between neighbours only; other PEs get nothing but a flag at the beginning and at the end of the call.
//
//   message | piece 0 | piece 1 | ...       lane l has pieces l, l + lanes, ...; several are on their way at once
//
//   slots of PE r (one of each for each lane and parity, see protocol/scratch.h):
//     slot of the PE before r:  sum of PEs 0..r-1, in the type that sums are made in (float32 for the 16-bit types)
//     slot of r itself:         result, as it is stored            (no PE writes to it otherwise)
//
//   begin: exchange | rounds of protocol/ring.h: wait, add, pass a result on, publish | end: exchange
//
// So the bits are those of every other algorithm: sums travel as wide as they are made, and only the last PE divides
// and rounds.
//
// Rotation. A piece is a step of its lane: piece k of the call has the number of the first exchange plus 1 + k, the
// last exchange the number after those. Out of the first exchange, a PE knows that all are in this call, so that none
// has anything unread in its slots, nor uses its `out` otherwise. In between, neighbours pace each other by the words
// of protocol/ring.h, which says what makes it safe to overwrite a slot, and why it ends. Nobody comes out of the last
// exchange before all have read all, so the next call finds the lane as lane.cuh wants it. Its flags may have the
// parity of the first exchange: a PE that raises them has all results, to which each PE has added after it came out of
// that.
//
// Where all PEs gave the same place, results go straight into the next PE's `out`; that PE has added its own piece
// before there can be a result, so in place is as good as out of place.
#include <type_traits>

#include "collective/lanes.cuh"
#include "collective/launch.h"
#include "protocol/ring.h"
#include "reduce/fold.cuh"
#include "sparkgap/device/elements.cuh"

namespace sparkgap::kernels {
namespace {

static_assert(kRingSlots == kParities, "slots are numbered by parity");

struct RingCall {
  LaneCall lanes;
  int32_t divisor;
};

// This PE's hold on its neighbours in one call and lane.
class Neighbours {
 public:
  __device__ Neighbours(const LaneCall& call, uint32_t first_number)
      : ring({call.world.pe, call.world.pes, pieces_of_lane(call)}), call_(call), first_number_(first_number) {}

  // False if a wait gave up: then the kernel has to end.
  __device__ bool await(uint64_t round) const {
    const int32_t word = threadIdx.x;
    bool came = true;
    if (word < kRingWords) {
      const uint64_t piece = ring.awaited(round, word);
      if (piece != kNoPiece) came = await_number(word, number_of(piece));
    }
    return __syncthreads_and(came) != 0;
  }

  // Everything that the block has read and written before is done when a neighbour sees it.
  __device__ void publish(uint64_t round) const {
    __syncthreads();
    const int32_t word = threadIdx.x;
    if (word >= kRingWords) return;
    const uint64_t piece = ring.published(round, word);
    if (piece == kNoPiece) return;
    __threadfence_system();
    const uint32_t number = number_of(piece);
    *const_cast<volatile uint32_t*>(this->word(ring.reader_of(word), word, number)) = number;
  }

  __device__ uint8_t* sum_slot(int32_t at, uint64_t piece) const { return slot(at, at - 1, piece); }
  __device__ uint8_t* result_slot(int32_t at, uint64_t piece) const { return slot(at, at, piece); }

  const Ring ring;

 private:
  static __device__ uint64_t pieces_of_lane(const LaneCall& call) {
    const uint64_t all = (call.pieces.total + call.pieces.piece_bytes - 1) / call.pieces.piece_bytes;
    return (all - blockIdx.x + gridDim.x - 1) / gridDim.x;
  }

  __device__ uint32_t number_of(uint64_t piece) const { return first_number_ + static_cast<uint32_t>(piece); }

  __device__ uint8_t* slot(int32_t at, int32_t source, uint64_t piece) const {
    return scratch_of(call_.world, at) + slot_at(call_.world.pes, blockIdx.x, number_of(piece) % kParities, source);
  }

  __device__ uint32_t* word(int32_t at, int32_t word, uint32_t number) const {
    return reinterpret_cast<uint32_t*>(scratch_of(call_.world, at) +
                                       ring_word_at(blockIdx.x, number % kParities, word));
  }

  __device__ bool await_number(int32_t word, uint32_t number) const {
    const Awaited awaited = {call_.collective, ring.writer_of(word), static_cast<int32_t>(blockIdx.x), number, 0};
    const uint32_t* at = this->word(ring.pe, word, number);
    return wait_until(call_.world, awaited, [&](Seen* seen) {
      seen->number = load_volatile(at);
      return seen->number == number;
    });
  }

  const LaneCall& call_;
  const uint32_t first_number_;
};

// One PE's addition to a piece. Addresses of `before` and `after` are aligned to 16 bytes.
template <class Element>
struct Addition {
  const typename Element::Wide* before;  // what the PEs before have made; nullptr on the first
  const typename Element::Stored* own;
  typename Element::Wide* after;        // for the next PE; nullptr on the last
  typename Element::Stored* result[2];  // the last PE's: its own, and the next PE's, nullptr if that gets none
  uint64_t count;
  int32_t op;
  int32_t divisor;
};

// kElements values of one type, moved 16 bytes at a time where they are as many.
template <class T, int kElements>
union Run {
  static constexpr int kBytes = kElements * static_cast<int>(sizeof(T));
  using Chunk = std::conditional_t<kBytes % sizeof(uint4) == 0, uint4, T>;
  static constexpr int kChunks = kBytes / static_cast<int>(sizeof(Chunk));
  Chunk chunks[kChunks];
  T elements[kElements];

  __device__ __forceinline__ void load(const T* from) {
#pragma unroll
    for (int i = 0; i < kChunks; ++i) chunks[i] = load_fresh(reinterpret_cast<const Chunk*>(from) + i);
  }
  __device__ __forceinline__ void store(T* to) const {
#pragma unroll
    for (int i = 0; i < kChunks; ++i) reinterpret_cast<Chunk*>(to)[i] = chunks[i];
  }
};

// Elements first to end, kElements at a time, kInFlight of these at once.
template <class Element, int kElements, int kInFlight>
__device__ __forceinline__ void add_runs(const Addition<Element>& addition, uint64_t first, uint64_t end) {
  using Stored = typename Element::Stored;
  using Wide = typename Element::Wide;
  const uint64_t stride = static_cast<uint64_t>(blockDim.x) * kElements;
  for (uint64_t base = first + threadIdx.x * kElements; base < end; base += kInFlight * stride) {
    Run<Stored, kElements> own[kInFlight];
    Run<Wide, kElements> sums[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const uint64_t at = base + k * stride;
      if (at >= end) break;
      own[k].load(addition.own + at);
      if (addition.before != nullptr) sums[k].load(addition.before + at);
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const uint64_t at = base + k * stride;
      if (at >= end) break;
      Wide values[kElements];
#pragma unroll
      for (int e = 0; e < kElements; ++e) values[e] = Element::widen(own[k].elements[e]);
      if (addition.before != nullptr) {
        combine(sums[k].elements, values, addition.op);
      } else {
#pragma unroll
        for (int e = 0; e < kElements; ++e) sums[k].elements[e] = values[e];
      }
      if (addition.after != nullptr) {
        sums[k].store(addition.after + at);
        continue;
      }
      Run<Stored, kElements> result;
#pragma unroll
      for (int e = 0; e < kElements; ++e) {
        result.elements[e] = Element::narrow(divide(sums[k].elements[e], addition.divisor));
      }
      result.store(addition.result[0] + at);
      if (addition.result[1] != nullptr) result.store(addition.result[1] + at);
    }
  }
}

template <class Element>
__device__ void add_block(const Addition<Element>& addition) {
  constexpr int kInVector = sizeof(uint4) / sizeof(typename Element::Stored);
  const uint64_t together = reinterpret_cast<uint64_t>(addition.own) | reinterpret_cast<uint64_t>(addition.result[0]) |
                            reinterpret_cast<uint64_t>(addition.result[1]);
  uint64_t done = 0;
  if (together % sizeof(uint4) == 0) {
    done = addition.count / kInVector * kInVector;
    add_runs<Element, kInVector, sizeof(typename Element::Stored) == 1 ? 1 : 2>(addition, 0, done);
  }
  add_runs<Element, 1, 1>(addition, done, addition.count);
}

template <class Element>
class RingKernel {
 public:
  __device__ RingKernel(const RingCall& call, const Neighbours& neighbours, bool direct)
      : call_(call), lanes_(call.lanes), neighbours_(neighbours), ring_(neighbours.ring), direct_(direct) {}

  __device__ bool run() const {
    for (uint64_t round = 0; round < ring_.rounds(); ++round) {
      if (!neighbours_.await(round)) return false;
      const uint64_t added = ring_.added(round);
      const uint64_t taken = ring_.taken(round);
      if (added != kNoPiece) add(added);
      if (taken != kNoPiece) take(taken);
      neighbours_.publish(round);
    }
    return true;
  }

 private:
  __device__ void add(uint64_t piece) const {
    using Stored = typename Element::Stored;
    using Wide = typename Element::Wide;
    const uint64_t begin = begin_of(piece);
    Addition<Element> addition = {};
    if (!ring_.is_first()) addition.before = reinterpret_cast<const Wide*>(neighbours_.sum_slot(ring_.pe, piece));
    addition.own = reinterpret_cast<const Stored*>(lanes_.in + begin);
    if (!ring_.is_last()) {
      addition.after = reinterpret_cast<Wide*>(neighbours_.sum_slot(ring_.after(), piece));
    } else {
      addition.result[0] = reinterpret_cast<Stored*>(lanes_.out + begin);
      if (ring_.sends_results()) addition.result[1] = reinterpret_cast<Stored*>(result_at_next(piece));
    }
    addition.count = bytes_of(piece) / sizeof(Stored);
    addition.op = lanes_.op;
    addition.divisor = call_.divisor;
    add_block(addition);
  }

  __device__ void take(uint64_t piece) const {
    uint8_t* out = lanes_.out + begin_of(piece);
    const uint8_t* result = direct_ ? out : neighbours_.result_slot(ring_.pe, piece);
    if (ring_.sends_results()) copy_block(result_at_next(piece), result, bytes_of(piece));
    if (!direct_) copy_block(out, result, bytes_of(piece));
  }

  __device__ uint8_t* result_at_next(uint64_t piece) const {
    const int32_t next = ring_.after();
    return direct_ ? lanes_.peer_out[next] + begin_of(piece) : neighbours_.result_slot(next, piece);
  }

  __device__ uint64_t begin_of(uint64_t piece) const { return lanes_.pieces.begin(piece_of_message(piece)); }
  __device__ uint64_t bytes_of(uint64_t piece) const { return lanes_.pieces.size(piece_of_message(piece)); }
  __device__ uint64_t piece_of_message(uint64_t piece) const { return blockIdx.x + piece * gridDim.x; }

  const RingCall& call_;
  const LaneCall& lanes_;
  const Neighbours& neighbours_;
  const Ring& ring_;
  const bool direct_;
};

template <class Element>
__global__ void __launch_bounds__(kLaneThreads, kLaneBlocks) all_reduce_ring(const __grid_constant__ RingCall call) {
  Lane lane(call.lanes.world, call.lanes.collective, call.lanes.signature);
  if (!lane.exchange(call.lanes.place)) return;
  lane.next_step();
  const Neighbours neighbours(call.lanes, lane.step());
  if (!RingKernel<Element>(call, neighbours, lane.agrees()).run()) return;
  lane.next_steps(static_cast<uint32_t>(neighbours.ring.pieces));
  if (lane.exchange(0)) lane.finish();
}

// By type.
constexpr void (*kKernels[SPARKGAP_TYPES])(RingCall) =
#define SPARKGAP_KERNEL_OF(Element) all_reduce_ring<Element>
    SPARKGAP_FOR_EACH_ELEMENT(SPARKGAP_KERNEL_OF);
#undef SPARKGAP_KERNEL_OF

// For each PE, so that most of the time all links are at work at once.
constexpr uint64_t kPiecesForEachPe = 4;

// A sum of a piece must fit a slot; the 16-bit types travel twice as wide as they are stored.
uint64_t most_piece_bytes(int32_t pes, int32_t type) {
  const bool widens = type == SPARKGAP_FLOAT16 || type == SPARKGAP_BFLOAT16;
  return slot_bytes(static_cast<uint64_t>(pes)) / (widens ? 2 : 1);
}

}  // namespace

int32_t launch_all_reduce_ring(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  RingCall ring = {};
  ring.lanes = lane_call(world, call);
  ring.divisor = call.op == SPARKGAP_AVG ? world.pes : 0;
  const uint64_t bytes = call.count * element_bytes(call.type);
  const uint64_t even = bytes / (static_cast<uint64_t>(lanes_of(world, call)) * world.pes * kPiecesForEachPe);
  const uint64_t most = most_piece_bytes(world.pes, call.type);
  const uint64_t wanted = std::min(most, std::max(even / 16 * 16, kLeastPieceBytes));
  const int32_t lanes = cut(bytes, wanted, lanes_of(world, call), &ring.lanes.pieces);
  return launch_lanes(kKernels[call.type], world, stream, lanes, ring);
}

}  // namespace sparkgap::kernels
