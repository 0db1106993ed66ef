// One trip in lines: for messages between the small ones and those that fill the link for long.
//
// As in packets, but 120 bytes with their mark in one store of eight threads: one trip, no fence, no barrier, and 7 %
// more bytes on the link instead of 100 %.
//
//   message        | line 0: words 0..14 | line 1: words 15..29 | ...      words of 8 bytes
//
//   scratch of PE r, parity number % 2:
//     from PE p    | words 0..14, mark | words 15..29, mark | ...          mark = {number, signature}
//
//   a warp has kWarpLines lines at a time, in turn with all warps of the grid, and kBatch turns on their way at once;
//   it sends one batch ahead, and while that is on its way takes the batch before
//
// Rotation: protocol/scratch.h. A thread takes the words that it has sent, so in place is as good as out of place.
// Requires: bytes <= kLineBytes / (pes - 1), and NVLink or one GPU (protocol/line.cuh). Any alignment; words are 8-byte
// loads where the message is aligned to 8.
#include "collective/one_trip/message.cuh"
#include "collective/one_trip/words.cuh"
#include "protocol/line.cuh"

namespace sparkgap::kernels {
namespace {

constexpr uint32_t kBatch = 2;

// The lines of a thread's eight: its place in each, and which they are.
struct Lines {
  LinePart part;
  uint32_t bytes;   // of the message
  uint32_t stride;  // from a line of this eight to its next

  // The words of its part of a line; 0 where the message has ended, or where the mark is.
  template <class Stored>
  __device__ __forceinline__ void load(const uint8_t* message, uint32_t line, uint64_t* first, uint64_t* second) const {
    const uint32_t at = part.first_word(line) * kWordBytes;
    *first = at < bytes ? load_word<Stored>(message, at, bytes) : 0;
    *second = !part.has_mark() && at + kWordBytes < bytes ? load_word<Stored>(message, at + kWordBytes, bytes) : 0;
  }

  template <class Stored>
  __device__ __forceinline__ void store(uint8_t* message, uint32_t line, uint64_t first, uint64_t second) const {
    const uint32_t at = part.first_word(line) * kWordBytes;
    if (at < bytes) store_word<Stored>(message, at, bytes, first);
    if (!part.has_mark() && at + kWordBytes < bytes) store_word<Stored>(message, at + kWordBytes, bytes, second);
  }
};

// `count` lines of this eight from `line` on, to every peer.
template <class Stored>
__device__ __forceinline__ void send_batch(const Trip& trip, const Message& message, const Lines& lines, uint32_t line,
                                           uint32_t count) {
#pragma unroll 1
  for (int32_t distance = 1; distance < trip.world.pes; ++distance) {
    const int32_t peer = trip.neighbour(distance);
    if (!trip.has_data(trip.world.pe, peer)) continue;
    const uint8_t* from = trip.message_for(peer);
    Line* to = message.lines_to(peer) + line;
    uint64_t first[kBatch], second[kBatch];
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) {
      if (i < count) lines.load<Stored>(from, line + i * lines.stride, &first[i], &second[i]);
    }
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) {
      if (i >= count) continue;
      if (lines.part.has_mark()) second[i] = mark_of(message.stamp());
      store_line_part(to + i * lines.stride, lines.part, first[i], second[i]);
    }
  }
}

// take(message, lines, line, count): what becomes of a batch that has come; false if a wait gave up. The whole warp
// calls it together, also where an eight of it has no lines left.
template <class Stored, class Take>
__device__ __forceinline__ void carry_lines(const Trip& trip, Take take) {
  fetch_parameters(trip);
  Lines lines;
  lines.bytes = static_cast<uint32_t>(trip.bytes);
  lines.stride = gridDim.x * (blockDim.x / kLineThreads);
  const uint32_t all = static_cast<uint32_t>((trip.bytes + kLineWords * kWordBytes - 1) / (kLineWords * kWordBytes));
  const uint32_t warp_begin = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * kWarpLines;
  const uint32_t own = threadIdx.x % 32 / kLineThreads;
  const auto count_from = [&](uint32_t line) {
    const uint32_t left = line < all ? (all - line + lines.stride - 1) / lines.stride : 0;
    return min(left, kBatch);
  };
  const Message message(trip);
  // One turn sends a batch and takes the one before.
  bool first = true;
  uint32_t taken = 0, count = 0;
#pragma unroll 1
  for (uint32_t turn = warp_begin; first || turn < all + kBatch * lines.stride; turn += kBatch * lines.stride) {
    const uint32_t next = turn + own;
    const uint32_t next_count = count_from(next);
    if (next_count > 0) send_batch<Stored>(trip, message, lines, next, next_count);
    if (first) {
      message.greet();
      message.count();
    } else if (!take(message, lines, taken, count)) {
      return;
    }
    first = false;
    taken = next;
    count = next_count;
  }
  message.await_greetings();
}

template <class Element, class Operation>
__global__ void __launch_bounds__(kTripThreads, kTripBlocks) lines_fold(const __grid_constant__ Trip trip) {
  using Stored = typename Element::Stored;
  carry_lines<Stored>(trip, [&](const Message& message, const Lines& lines, uint32_t line, uint32_t count) {
    const KernelWorld& world = trip.world;
    if (!trip.takes(world.pe)) return true;
    // Before the wait, so that they come while the others' are on their way.
    uint64_t own[kBatch][2];
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) {
      own[i][0] = own[i][1] = 0;
      if (i >= count) continue;
      lines.load<Stored>(trip.message_for(world.pe), line + i * lines.stride, &own[i][0], &own[i][1]);
    }
    WordSum<Element> sums[kBatch][2];
#pragma unroll 1
    for (int32_t pe = 0; pe < world.pes; ++pe) {
      uint64_t first[kBatch], second[kBatch];
#pragma unroll
      for (uint32_t i = 0; i < kBatch; ++i) {
        first[i] = own[i][0];
        second[i] = own[i][1];
      }
      if (pe != world.pe &&
          !receive_line_parts<kBatch>(world, message.awaited(pe), lines.part, message.lines_from(pe) + line,
                                      lines.stride, count, first, second)) {
        return false;
      }
#pragma unroll
      for (uint32_t i = 0; i < kBatch; ++i) {
        if (pe == 0) {
          sums[i][0].start(first[i]);
          sums[i][1].start(second[i]);
        } else {
          sums[i][0].template add<Operation>(first[i]);
          sums[i][1].template add<Operation>(second[i]);
        }
      }
    }
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) {
      if (i >= count) continue;
      lines.store<Stored>(trip.out, line + i * lines.stride, sums[i][0].result(trip.divisor),
                          sums[i][1].result(trip.divisor));
    }
    return true;
  });
}

__global__ void __launch_bounds__(kTripThreads, kTripBlocks) lines_copy(const __grid_constant__ Trip trip) {
  carry_lines<uint8_t>(trip, [&](const Message& message, const Lines& lines, uint32_t line, uint32_t count) {
    const KernelWorld& world = trip.world;
#pragma unroll 1
    for (int32_t distance = 0; distance < world.pes; ++distance) {
      const int32_t source = trip.neighbour(distance);
      if (!trip.has_data(source, world.pe)) continue;
      uint64_t first[kBatch], second[kBatch];
      if (source == world.pe) {
        if (trip.place_of(source) == trip.message_for(source)) continue;
#pragma unroll
        for (uint32_t i = 0; i < kBatch; ++i) {
          if (i < count) {
            lines.load<uint8_t>(trip.message_for(source), line + i * lines.stride, &first[i], &second[i]);
          }
        }
      } else if (!receive_line_parts<kBatch>(world, message.awaited(source), lines.part,
                                             message.lines_from(source) + line, lines.stride, count, first, second)) {
        return false;
      }
#pragma unroll
      for (uint32_t i = 0; i < kBatch; ++i) {
        if (i < count) lines.store<uint8_t>(trip.place_of(source), line + i * lines.stride, first[i], second[i]);
      }
    }
    return true;
  });
}

using Kernel = void (*)(Trip);

// By SPARKGAP_SUM, PROD, MIN, MAX, AVG.
template <class Element>
constexpr Kernel kOperations[SPARKGAP_OPS] = {lines_fold<Element, Sum>, lines_fold<Element, Product>,
                                              lines_fold<Element, Minimum>, lines_fold<Element, Maximum>,
                                              lines_fold<Element, Sum>};

#define SPARKGAP_OPERATIONS_OF(Element) kOperations<Element>
constexpr const Kernel* kFolds[SPARKGAP_TYPES] = SPARKGAP_FOR_EACH_ELEMENT(SPARKGAP_OPERATIONS_OF);
#undef SPARKGAP_OPERATIONS_OF

}  // namespace

int32_t launch_lines(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  const Trip trip = trip_of(world, call);
  const uint64_t lines = (trip.bytes + kLineWords * kWordBytes - 1) / (kLineWords * kWordBytes);
  const Kernel kernel = description_of(call).has_op ? kFolds[call.type][call.op] : lines_copy;
  return launch_trip(reinterpret_cast<const void*>(kernel), trip, stream,
                     spread(lines * kLineThreads, call.shape, world.lanes));
}

}  // namespace sparkgap::kernels
