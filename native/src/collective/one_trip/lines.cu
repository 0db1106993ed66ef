// One trip in lines: for messages between the small ones and those that fill the link for long.
//
// As in packets, but 120 bytes with their mark in one store of eight threads: one trip, no fence, no barrier, and 7 % more
// bytes on the link instead of 100 %.
//
//   message        | line 0: words 0..14 | line 1: words 15..29 | ...      words of 8 bytes
//
//   scratch of PE r, parity number % 2:
//     from PE p    | words 0..14, mark | words 15..29, mark | ...          mark = {number, signature}
//
//   a warp has four lines at a time, in turn with all warps of the grid; it sends kBatch of these turns, and while they
//   are on their way it takes those of the batch before
//
// Rotation: protocol/scratch.h. A thread takes the words that it has sent, so in place is as good as out of place.
// Requires: bytes <= kLineBytes / (pes - 1), and NVLink or one GPU (protocol/line.cuh). Any alignment; words are 8-byte
// loads where the message is aligned to 8.
#include "collective/one_trip/message.cuh"
#include "collective/one_trip/words.cuh"
#include "protocol/line.cuh"

namespace sparkgap::kernels {
namespace {

constexpr int kBatch = 2;

// Lines of a batch: this thread's eight has first, first + stride, ..., of which the message has `count`.
struct Batch {
  uint32_t first;
  uint32_t stride;
  int count;
};

// The two words of this thread's part; the second of the part with the mark is not data.
template <class Stored>
struct Words {
  const uint8_t* message;
  uint32_t bytes;

  __device__ __forceinline__ uint64_t load(uint32_t word) const {
    return word * kWordBytes < bytes ? load_word<Stored>(message, word * kWordBytes, bytes) : 0;
  }
};

template <class Stored>
__device__ __forceinline__ void send_batch(const Trip& trip, const Message& message, const LinePart& part,
                                           const Batch& batch) {
  for (int32_t distance = 1; distance < trip.world.pes; ++distance) {
    const int32_t peer = trip.neighbour(distance);
    if (!trip.has_data(trip.world.pe, peer)) continue;
    const Words<Stored> words = {trip.message_for(peer), static_cast<uint32_t>(trip.bytes)};
    Line* lines = message.lines_to(peer);
    uint64_t first[kBatch], second[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (k >= batch.count) break;
      const uint32_t word = part.first_word(batch.first + k * batch.stride);
      first[k] = words.load(word);
      second[k] = part.has_mark() ? mark_of(message.stamp()) : words.load(word + 1);
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (k >= batch.count) break;
      store_line_part(lines + batch.first + k * batch.stride, part, first[k], second[k]);
    }
  }
}

// take(message, part, batch): what becomes of the lines of a batch that have come; false if a wait gave up. The whole
// warp calls it together, also where a part of it has no lines left.
template <class Stored, class Take>
__device__ __forceinline__ void carry_lines(const Trip& trip, Take take) {
  fetch_parameters(trip);
  const LinePart part;
  const uint32_t lines = static_cast<uint32_t>((trip.bytes + kLineWords * kWordBytes - 1) / (kLineWords * kWordBytes));
  const uint32_t stride = gridDim.x * (blockDim.x / kLineThreads);
  const uint32_t in_warp = threadIdx.x % 32 / kLineThreads;
  const uint32_t warp_begin = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * kWarpLines;
  const auto batch_at = [&](uint32_t from) {
    const uint32_t first = from + in_warp;
    const uint32_t left = first < lines ? (lines - first + stride - 1) / stride : 0;
    return Batch{first, stride, static_cast<int>(min(left, static_cast<uint32_t>(kBatch)))};
  };
  const Message message(trip);
  send_batch<Stored>(trip, message, part, batch_at(warp_begin));
  message.greet();
  message.count();
  for (uint32_t from = warp_begin; from < lines; from += kBatch * stride) {
    if (from + kBatch * stride < lines) send_batch<Stored>(trip, message, part, batch_at(from + kBatch * stride));
    if (!take(message, part, batch_at(from))) return;
  }
  message.await_greetings();
}

template <class Element>
__global__ void __launch_bounds__(kTripThreads, kTripBlocks) lines_fold(const __grid_constant__ Trip trip) {
  using Stored = typename Element::Stored;
  carry_lines<Stored>(trip, [&](const Message& message, const LinePart& part, const Batch& batch) {
    const KernelWorld& world = trip.world;
    const uint32_t bytes = static_cast<uint32_t>(trip.bytes);
    if ((trip.receivers >> world.pe & 1) == 0) return true;
    // Before the wait, so that they come while the others' are on their way.
    const Words<Stored> words = {trip.message_for(world.pe), bytes};
    uint64_t own[kBatch][2] = {};
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (k >= batch.count) break;
      const uint32_t word = part.first_word(batch.first + k * batch.stride);
      own[k][0] = words.load(word);
      own[k][1] = words.load(word + 1);
    }
    WordSum<Element> sums[kBatch][2];
    for (int32_t pe = 0; pe < world.pes; ++pe) {
      uint64_t first[kBatch], second[kBatch];
      if (pe == world.pe) {
#pragma unroll
        for (int k = 0; k < kBatch; ++k) {
          first[k] = own[k][0];
          second[k] = own[k][1];
        }
      } else if (!receive_line_parts<kBatch>(world, message.awaited(pe), part, message.lines_from(pe) + batch.first,
                                             batch.stride, batch.count, first, second)) {
        return false;
      }
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        sums[k][0].add(first[k], pe == 0, trip.op);
        sums[k][1].add(second[k], pe == 0, trip.op);
      }
    }
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      if (k >= batch.count) break;
      const uint32_t at = part.first_word(batch.first + k * batch.stride) * kWordBytes;
      if (at < bytes) store_word<Stored>(trip.out, at, bytes, sums[k][0].result(trip.divisor));
      if (at + kWordBytes >= bytes || part.has_mark()) continue;
      store_word<Stored>(trip.out, at + kWordBytes, bytes, sums[k][1].result(trip.divisor));
    }
    return true;
  });
}

__global__ void __launch_bounds__(kTripThreads, kTripBlocks) lines_copy(const __grid_constant__ Trip trip) {
  carry_lines<uint8_t>(trip, [&](const Message& message, const LinePart& part, const Batch& batch) {
    const KernelWorld& world = trip.world;
    const uint32_t bytes = static_cast<uint32_t>(trip.bytes);
    for (int32_t distance = 0; distance < world.pes; ++distance) {
      const int32_t source = trip.neighbour(distance);
      if (!trip.has_data(source, world.pe)) continue;
      uint64_t first[kBatch], second[kBatch];
      if (source == world.pe) {
        if (trip.place_of(source) == trip.message_for(source)) continue;
        const Words<uint8_t> words = {trip.message_for(source), bytes};
#pragma unroll
        for (int k = 0; k < kBatch; ++k) {
          const uint32_t word = part.first_word(batch.first + k * batch.stride);
          first[k] = k < batch.count ? words.load(word) : 0;
          second[k] = k < batch.count && !part.has_mark() ? words.load(word + 1) : 0;
        }
      } else if (!receive_line_parts<kBatch>(world, message.awaited(source), part,
                                             message.lines_from(source) + batch.first, batch.stride, batch.count, first,
                                             second)) {
        return false;
      }
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        if (k >= batch.count) break;
        const uint32_t at = part.first_word(batch.first + k * batch.stride) * kWordBytes;
        if (at < bytes) store_word<uint8_t>(trip.place_of(source), at, bytes, first[k]);
        if (at + kWordBytes >= bytes || part.has_mark()) continue;
        store_word<uint8_t>(trip.place_of(source), at + kWordBytes, bytes, second[k]);
      }
    }
    return true;
  });
}

// By type.
constexpr void (*kFolds[SPARKGAP_TYPES])(Trip) =
#define SPARKGAP_KERNEL_OF(Element) lines_fold<Element>
    SPARKGAP_FOR_EACH_ELEMENT(SPARKGAP_KERNEL_OF);
#undef SPARKGAP_KERNEL_OF

}  // namespace

int32_t launch_lines(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  const Trip trip = trip_of(world, call);
  const uint64_t lines = (trip.bytes + kLineWords * kWordBytes - 1) / (kLineWords * kWordBytes);
  const void* kernel = reinterpret_cast<const void*>(adds(call.collective) ? kFolds[call.type] : lines_copy);
  return launch_trip(kernel, trip, stream, spread(lines * kLineThreads, call.shape, world.lanes));
}

}  // namespace sparkgap::kernels
