// One trip in lines: for messages between the small ones and those that fill the link for long.
//
// As in packets, but nothing beside the data is on the link (protocol/line.cuh): one trip, no fence, no barrier.
//
//   message        | line 0 | line 1 | ...          16 bytes each
//
//   scratch of PE r, parity number % 2:
//     from PE p    | line 0 | line 1 | ...
//
//   a warp has 32 neighbouring lines at a time, a turn, in turn with all warps of the grid; it sends kBatch turns
//   ahead, and while they are on their way takes those before
//
// Rotation: protocol/scratch.h. A thread takes the lines that it has sent, so in place is as good as out of place.
// Requires: bytes <= kLineBytes / (pes - 1). Any alignment; 16 bytes at once where the message is aligned to 16.
#include "collective/one_trip/message.cuh"
#include "sparkgap/device/words.cuh"

namespace sparkgap::kernels {
namespace {

// Of a block at most. Worlds of few blocks have so many; of half as many, two blocks fit a multiprocessor.
constexpr int32_t kLinesThreads = 1024;

// Lines of a thread that it sends at once, and takes at once.
constexpr uint32_t kBatch = 2;

// Where the lines for a PE are, and where they go.
struct Route {
  const uint8_t* from;
  Line* to;
  uint8_t* hidden;

  __device__ __forceinline__ Route(const Trip& trip, const Message& message, int32_t peer)
      : from(trip.message_for(peer)), to(message.lines_to(peer)), hidden(message.hidden_to(peer)) {}
};

// A thread's lines, one every `stride`: a batch of them from `line` on.
struct Batch {
  uint32_t bytes;  // of the message
  uint32_t line;
  uint32_t stride;

  // The first.
  __device__ __forceinline__ explicit Batch(const Trip& trip)
      : bytes(static_cast<uint32_t>(trip.bytes)),
        line(blockIdx.x * blockDim.x + threadIdx.x),
        stride(gridDim.x * blockDim.x) {}

  __device__ __forceinline__ void go_on() { line += kBatch * stride; }
  // The same for the whole warp: whether none of its threads has a line.
  __device__ __forceinline__ bool is_empty() const { return (line - threadIdx.x % 32) * sizeof(Line) >= bytes; }

  __device__ __forceinline__ uint32_t at(uint32_t i) const { return line + i * stride; }
  // Which words line i of the batch has; 0 behind the last.
  __device__ __forceinline__ uint32_t words_of(uint32_t i) const {
    const uint32_t from = at(i) * sizeof(Line);
    return from >= bytes ? 0 : from + kWordBytes < bytes ? 3 : 1;
  }
  template <class Stored>
  __device__ __forceinline__ void load(const uint8_t* message, uint32_t i, uint64_t* low, uint64_t* high) const {
    load_line<Stored>(message, at(i) * sizeof(Line), bytes, low, high);
  }
  template <class Stored>
  __device__ __forceinline__ void store(uint8_t* message, uint32_t i, uint64_t low, uint64_t high) const {
    store_line<Stored>(message, at(i) * sizeof(Line), bytes, low, high);
  }
};

// To every peer. `next`: the way to the PE after this one.
template <class Stored>
__device__ __forceinline__ void send_batch(const Trip& trip, const Message& message, const Route& next,
                                           const Batch& batch) {
  if (batch.words_of(0) == 0) return;
#pragma unroll 1
  for (int32_t distance = 1; distance < trip.world.pes; ++distance) {
    const int32_t peer = trip.neighbour(distance);
    if (!trip.has_data(trip.world.pe, peer)) continue;
    const Route route = distance == 1 ? next : Route(trip, message, peer);
    uint64_t low[kBatch], high[kBatch];
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) {
      if (batch.words_of(i) != 0) batch.load<Stored>(route.from, i, &low[i], &high[i]);
    }
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) {
      const uint32_t words = batch.words_of(i);
      if (words != 0) send_line(route.to + batch.at(i), route.hidden + batch.at(i), words, low[i], high[i]);
    }
  }
}

// The whole warp together, as receive_lines.
__device__ __forceinline__ bool receive_batch(const Trip& trip, const Message& message, int32_t source,
                                              const Batch& batch, const uint32_t (&words)[kBatch],
                                              uint64_t (&low)[kBatch], uint64_t (&high)[kBatch]) {
  const AwaitedLines from = {message.lines_from(source) + batch.line, message.hidden_from(source) + batch.line,
                             batch.stride};
  return receive_lines<kBatch>(trip.world, message.awaited(source), message.packets_from(source), from, words, low,
                               high);
}

// take(message, batch): what becomes of a batch that has come; false if a wait gave up. The whole warp calls it
// together, also where a thread of it has no lines left.
template <class Stored, class Take>
__device__ __forceinline__ void carry_lines(const Trip& trip, Take take) {
  fetch_parameters(trip);
  const Message message(trip);
  Route next(trip, message, trip.neighbour(1));
  work_out_here(next.from);
  work_out_here(next.to);
  work_out_here(next.hidden);
  await_kernel_before();
  Batch ahead(trip);
  send_batch<Stored>(trip, message, next, ahead);
  let_next_start();
  message.greet(false);
  // One batch is on its way while the one before is taken.
#pragma unroll 1
  for (Batch batch(trip); !batch.is_empty(); batch.go_on()) {
    ahead.go_on();
    send_batch<Stored>(trip, message, next, ahead);
    if (!take(message, batch)) return;
  }
  message.await_greetings(false);
}

template <class Element, class Operation>
__global__ void __launch_bounds__(kLinesThreads) lines_fold(const __grid_constant__ Trip trip) {
  using Stored = typename Element::Stored;
  carry_lines<Stored>(trip, [&](const Message& message, const Batch& batch) {
    const KernelWorld& world = trip.world;
    if (!trip.takes(world.pe)) return true;
    uint32_t words[kBatch];
    // Before the wait, so that they come while the others' are on their way.
    uint64_t own_low[kBatch], own_high[kBatch];
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) {
      words[i] = batch.words_of(i);
      own_low[i] = own_high[i] = 0;
      if (words[i] != 0) batch.load<Stored>(trip.message_for(world.pe), i, &own_low[i], &own_high[i]);
    }
    WordSum<Element> sums[kBatch][2];
#pragma unroll 1
    for (int32_t pe = 0; pe < world.pes; ++pe) {
      uint64_t low[kBatch], high[kBatch];
#pragma unroll
      for (uint32_t i = 0; i < kBatch; ++i) {
        low[i] = own_low[i];
        high[i] = own_high[i];
      }
      if (pe != world.pe && !receive_batch(trip, message, pe, batch, words, low, high)) return false;
#pragma unroll
      for (uint32_t i = 0; i < kBatch; ++i) {
        if (pe == 0) {
          sums[i][0].start(low[i]);
          sums[i][1].start(high[i]);
        } else {
          sums[i][0].template add<Operation>(low[i]);
          sums[i][1].template add<Operation>(high[i]);
        }
      }
    }
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) {
      if (words[i] == 0) continue;
      batch.store<Stored>(trip.out, i, sums[i][0].result(trip.divisor), sums[i][1].result(trip.divisor));
    }
    return true;
  });
}

__global__ void __launch_bounds__(kLinesThreads) lines_copy(const __grid_constant__ Trip trip) {
  carry_lines<uint8_t>(trip, [&](const Message& message, const Batch& batch) {
    const KernelWorld& world = trip.world;
    uint32_t words[kBatch];
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) words[i] = batch.words_of(i);
#pragma unroll 1
    for (int32_t distance = 0; distance < world.pes; ++distance) {
      const int32_t source = trip.neighbour(distance);
      if (!trip.has_data(source, world.pe)) continue;
      uint64_t low[kBatch], high[kBatch];
      if (source == world.pe) {
        if (trip.place_of(source) == trip.message_for(source)) continue;
#pragma unroll
        for (uint32_t i = 0; i < kBatch; ++i) {
          if (words[i] != 0) batch.load<uint8_t>(trip.message_for(source), i, &low[i], &high[i]);
        }
      } else if (!receive_batch(trip, message, source, batch, words, low, high)) {
        return false;
      }
#pragma unroll
      for (uint32_t i = 0; i < kBatch; ++i) {
        if (words[i] != 0) batch.store<uint8_t>(trip.place_of(source), i, low[i], high[i]);
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

int32_t prepare_lines() {
  cudaFuncAttributes attributes;
  const auto load = [&](Kernel kernel) {
    return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel));
  };
  cudaError_t error = load(lines_copy);
  for (const Kernel* operations : kFolds) {
    for (int32_t op = 0; op < SPARKGAP_OPS && error == cudaSuccess; ++op) error = load(operations[op]);
  }
  return error;
}

int32_t launch_lines(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  const Trip trip = trip_of(world, call);
  const uint64_t lines = (trip.bytes + sizeof(Line) - 1) / sizeof(Line);
  const Kernel kernel = description_of(call).has_op ? kFolds[call.type][call.op] : lines_copy;
  return launch_trip(reinterpret_cast<const void*>(kernel), trip, stream, spread(lines, call.shape, world.lanes));
}

}  // namespace sparkgap::kernels
