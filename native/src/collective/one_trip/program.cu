// A program: calls in packets, one after the other, by one kernel.
//
//   the calls      | ProgramCall | ProgramCall | ...    in GPU memory; every block copies them into its shared memory
//
// On the link a call is what it is by itself (packets.cu): the same packets in the same places, with the numbers that
// the calls would have had, which the kernel takes all at once. Word w of a message belongs to thread w of the grid, a
// word a thread, whatever the call (turn.cuh).
//
// Rotation. A thread goes on to the next call by itself. It has heard in this one from the peers' threads of the same
// word, so they have ended the call before. That is the rule of protocol/scratch.h, word by word, as long as calls in a
// row have as many words, and every PE hears from every other in all of them. Elsewhere the threads of a block meet
// first, and the blocks of the grid where the calls have different numbers of blocks, or several and some PE says
// nothing to another. They also do where a call reads what another thread has written, writes what another thread may
// still read, or writes what it has written.
//
// Requires: bytes <= 8 kProgramThreads kProgramBlocks of each message. Any alignment, as in packets.cu.
#include <algorithm>
#include <vector>

#include "collective/launch.h"
#include "collective/one_trip/turn.cuh"
#include "collective/program.h"
#include "sparkgap/device/meeting.cuh"

namespace sparkgap::kernels {
namespace {

constexpr int32_t kProgramThreads = 256;
constexpr int32_t kProgramBlocks = 64;

// Of one kernel; a longer program is several.
constexpr int32_t kProgramCalls = 256;

// Where the blocks have to meet before more than one call in so many, a kernel for each call is faster: a meeting takes
// 1.3 us, and from one kernel to the next goes 0.6 us.
constexpr size_t kCallsToMeeting = 8;

// The record's lane is the block, and above these bits the call's place in the step.
static_assert(kProgramBlocks <= 1 << kLaneBits);

// Who meets before a call.
enum class Meets : int32_t { kNobody, kBlock, kGrid };

struct alignas(uint4) ProgramCall : TripCall {
  int32_t type;    // -1: nothing is added
  int32_t number;  // in the step
  Meets meets;
  bool all_hear;  // every PE gets data from every other
};
static_assert(sizeof(ProgramCall) % sizeof(uint4) == 0);

struct Parameters {
  KernelWorld world;
  Places places;
  const ProgramCall* calls;
  int32_t count;
};

// The number of the first call. Each block takes a ticket, and the last to do so all that are left of those that the
// calls would have taken.
__device__ uint32_t first_number(const KernelWorld& world, int32_t calls) {
  __shared__ uint32_t number;
  if (threadIdx.x == 0) {
    unsigned long long* const tickets = &counters_of(world)->tickets;
    const unsigned long long own = atomicAdd(tickets, 1ull);
    if (own % kMaxLanes == gridDim.x - 1) {
      atomicAdd(tickets, static_cast<unsigned long long>(calls) * kMaxLanes - gridDim.x);
    }
    __threadfence();
    number = static_cast<uint32_t>(own / kMaxLanes) + 1;
  }
  __syncthreads();
  return number;
}

// By all threads that go through the program. `fine` of each: no wait of its own has given up. False, in all alike, if
// one has, or if the blocks do not come.
__device__ __forceinline__ bool meet_before(const Parameters& program, const ProgramCall& call, int32_t lane,
                                            bool fine) {
  fine = __syncthreads_and(fine) != 0;
  if (!fine || call.meets == Meets::kBlock) return fine;
  if (threadIdx.x == 0) {
    fine = meet(program.world, &counters_of(program.world)->meeting, gridDim.x, kWaitBlocks, lane);
  }
  return __syncthreads_and(fine) != 0;
}

__global__ void __launch_bounds__(kProgramThreads) packets_program(const __grid_constant__ Parameters program) {
  __shared__ ProgramCall calls[kProgramCalls];
  __shared__ PacketRows rows;
  fetch_parameters(program);
  const uint32_t first = first_number(program.world, program.count);
  rows.fill(program.world, program.places);
  await_kernel_before();
  const auto* const from = reinterpret_cast<const uint4*>(program.calls);
  const uint32_t parts = static_cast<uint32_t>(program.count * sizeof(ProgramCall) / sizeof(uint4));
  for (uint32_t i = threadIdx.x; i < parts; i += kProgramThreads) reinterpret_cast<uint4*>(calls)[i] = from[i];
  __syncthreads();
  const uint32_t word = blockIdx.x * kProgramThreads + threadIdx.x;
  bool fine = true;
  ProgramCall next = calls[0];
#pragma unroll 1
  for (int32_t i = 0; i < program.count; ++i) {
    // In registers, and the next one at hand before it is its turn: what is in memory is read anew behind every store
    // and every poll.
    const ProgramCall call = next;
    next = calls[i + 1 < program.count ? i + 1 : i];
    const auto lane = static_cast<int32_t>(blockIdx.x) | call.number << kLaneBits;
    if (call.meets != Meets::kNobody) {
      fine = meet_before(program, call, lane, fine);
      if (!fine) return;
    }
    // To the next meeting, where the others learn of it.
    if (!fine) continue;
    const Stamp stamp = {first + static_cast<uint32_t>(i), call.signature};
    const Turn turn = {program.world, rows, call, stamp, lane, word};
    if (!call.all_hear) turn.greet();
    fine = turn.take(call.type) && (call.all_hear || turn.await_greetings());
  }
  let_next_start();
}

// Memory that a call reads or writes: one message, or several of `stride` bytes each, one behind the other. Thread w
// has word w of every message.
struct Range {
  const uint8_t* begin;
  uint64_t bytes;
  uint64_t stride;  // 0: one message

  // Whether the two have memory in common of which a word is not the same thread's in both.
  bool meets(const Range& other) const {
    if (bytes == 0 || other.bytes == 0) return false;
    if (begin >= other.begin + other.bytes || other.begin >= begin + bytes) return false;
    if (stride == 0 && other.stride == 0) return begin != other.begin;
    const uint64_t unit = std::max(stride, other.stride);
    const bool alike = stride == other.stride || std::min(stride, other.stride) == 0;
    const bool fit = (stride != 0 || bytes <= unit) && (other.stride != 0 || other.bytes <= unit);
    const auto distance = static_cast<uint64_t>(begin < other.begin ? other.begin - begin : begin - other.begin);
    return !alike || !fit || distance % unit != 0;
  }
};

uint64_t words_of(const TripCall& call) { return (call.bytes + kWordBytes - 1) / kWordBytes; }

int32_t used_blocks(const TripCall& call) {
  return static_cast<int32_t>((words_of(call) + kProgramThreads - 1) / kProgramThreads);
}

}  // namespace

struct Program::Calls {
  std::vector<ProgramCall> all;
  std::vector<Range> read;     // of each since all threads that have a word have met
  std::vector<Range> written;  // likewise
  int32_t blocks = 1;
  size_t grid_meetings = 0;
  bool whole = true;

  // Since the grid has met all calls have had as many blocks.
  Meets before(const ProgramCall& call, const Range& reads, const Range& writes) const {
    if (all.empty()) return Meets::kNobody;
    const ProgramCall& last = all.back();
    if (used_blocks(call) != used_blocks(last)) return Meets::kGrid;
    const auto meets_any = [](const std::vector<Range>& ranges, const Range& range) {
      return std::any_of(ranges.begin(), ranges.end(), [&](const Range& other) { return range.meets(other); });
    };
    const bool all_hear = call.all_hear && last.all_hear;
    const bool shares = meets_any(written, reads) || meets_any(written, writes) || meets_any(read, writes);
    if (all_hear && !shares) return words_of(call) == words_of(last) ? Meets::kNobody : Meets::kBlock;
    return used_blocks(call) == 1 ? Meets::kBlock : Meets::kGrid;
  }

  void add(ProgramCall call, const Range& reads, const Range& writes) {
    call.meets = before(call, reads, writes);
    if (call.meets == Meets::kGrid) ++grid_meetings;
    if (call.meets == Meets::kGrid || (call.meets == Meets::kBlock && used_blocks(call) == 1)) {
      read.clear();
      written.clear();
    }
    read.push_back(reads);
    written.push_back(writes);
    blocks = std::max(blocks, used_blocks(call));
    all.push_back(call);
  }
};

Program::Program() : calls_(std::make_unique<Calls>()) {}
Program::~Program() = default;

void Program::clear() { *calls_ = {}; }

void Program::add(const KernelWorld& world, const KernelCall& asked) {
  KernelCall call = asked;
  const Collective& what = description_of(call);
  ProgramCall kept = {};
  if (call.algorithm == Algorithm::kPackets) {
    call.signature = signature_of(call);
    static_cast<TripCall&>(kept) = trip_of(world, call);
  }
  if (call.algorithm != Algorithm::kPackets || used_blocks(kept) > std::min(kProgramBlocks, world.lanes)) {
    calls_->whole = false;
    return;
  }
  kept.type = what.has_op ? call.type : -1;
  kept.number = world.place.call;
  kept.all_hear = !what.in.root_only && !what.out.root_only;
  const Range reads = {kept.in, array_bytes(call, what.in, world.pes), kept.in_stride};
  const Range writes = {kept.out, array_bytes(call, what.out, world.pes), kept.out_stride};
  calls_->add(kept, reads, writes);
}

size_t Program::calls() const {
  const size_t all = calls_->all.size();
  return calls_->whole && calls_->grid_meetings * kCallsToMeeting <= all ? all : 0;
}

size_t Program::bytes() const { return calls_->all.size() * sizeof(ProgramCall); }

int32_t Program::upload(void* memory, CUstream_st* stream) const {
  return cudaMemcpyAsync(memory, calls_->all.data(), bytes(), cudaMemcpyHostToDevice, stream);
}

int32_t Program::launch(const KernelWorld& world, CUstream_st* stream, const void* memory) const {
  static_assert(sizeof(Parameters) <= LaunchCache::kMaxParameterBytes);
  const auto all = static_cast<int32_t>(calls_->all.size());
  Parameters parameters = {world, places_of(static_cast<uint64_t>(world.pes)), nullptr, 0};
  const LaunchShape shape = {reinterpret_cast<const void*>(packets_program), calls_->blocks, kProgramThreads, true, 0};
  for (int32_t from = 0; from < all; from += kProgramCalls) {
    parameters.calls = static_cast<const ProgramCall*>(memory) + from;
    parameters.count = std::min(kProgramCalls, all - from);
    const int32_t error = enqueue(world, stream, shape, &parameters, sizeof parameters);
    if (error != 0) return error;
  }
  return 0;
}

int32_t prepare_program() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(packets_program));
}

}  // namespace sparkgap::kernels
