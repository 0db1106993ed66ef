// dispatch and exchangeRows on GPUs, straight into the buffers of the PEs that the rows go to, in one kernel.
//
//   1. Every block counts the rows for each expert, of the whole table and of what lies before its own rows.
//   2. Block 0 sends the table's counts to every other PE in packets; all blocks read what comes. From that each knows
//      where in every expert's room its own rows begin, and whether all fit, which all PEs find out alike.
//   3. Each block copies its rows to their places, as they are or as float8 (float8.cuh): a row is read once and stored
//      for each of its experts.
//   4. The lanes exchange flags: all rows have come.
//
//   packets of PE r, from PE q:  | rows of q for experts 0 and 1 | for 2 and 3 | ... |
//   block b has rows b * n, ... (b + 1) * n - 1 of `in`, n being the same for all
//
// A PE sends its counts when the kernels before are done, so also whoever used what it had received before: it is
// overwritten by those alone who have its counts. Rotation of packets: protocol/scratch.h.
#include <type_traits>

#include "collective/dispatch/float8.cuh"
#include "collective/lanes.cuh"
#include "collective/one_trip/message.cuh"
#include "collective/rows_kernels.h"

namespace sparkgap::kernels {
namespace {

constexpr int32_t kRowThreads = 512;
constexpr uint32_t kMostExperts = SPARKGAP_MOST_EXPERTS;
constexpr uint32_t kMostTop = SPARKGAP_MOST_TOP;
static_assert(kMostExperts / 2 <= kPacketBytes / (kMaxPes - 1) / kWordBytes, "counts fit the packets of a source");

struct DispatchCall {
  Trip trip;
  RowsPlan plan;
  const int32_t* indices;
  const float* weights;
  uint64_t rows;
  uint64_t rows_of_block;
  uint64_t unit;  // bytes that rows are copied by at once
  uint8_t* parts[kMaxPes];

  __device__ const KernelWorld& world() const { return trip.world; }
  __device__ uint64_t first_row() const { return min(blockIdx.x * rows_of_block, rows); }
  __device__ uint64_t last_row() const { return min((blockIdx.x + 1) * rows_of_block, rows); }
};

// In shared memory.
struct Tables {
  uint32_t totals[kMostExperts];  // rows for each expert: of this PE, then of all
  uint32_t next[kMostExperts];    // where in each expert's room the next row of this block goes
  uint8_t* targets[kMostTop];     // of the row in hand; null: not sent
  float* scales[kMostTop];        // of the same as float8
  int32_t full;                   // the first expert without room
};

// False if an index names no expert.
__device__ bool count_rows(const DispatchCall& call, Tables& tables) {
  const RowsPlan& plan = call.plan;
  for (int32_t e = threadIdx.x; e < plan.experts + 1; e += blockDim.x) {
    if (e < static_cast<int32_t>(kMostExperts)) tables.totals[e] = tables.next[e] = 0;
  }
  if (threadIdx.x == 0) tables.full = INT32_MAX;
  __syncthreads();
  const uint64_t own = call.first_row() * plan.top;
  bool fine = true;
  for (uint64_t i = threadIdx.x; i < call.rows * plan.top; i += blockDim.x) {
    const int32_t expert = call.indices[i];
    if (expert < -1 || expert >= plan.experts) {
      fine = false;
      const Awaited awaited = {call.trip.collective, -1, plan.top, 0, 0};
      give_up(call.world(), WaitEnd::kNoSuchExpert, awaited, i, static_cast<uint64_t>(expert));
    } else if (expert >= 0) {
      atomicAdd(&tables.totals[expert], 1u);
      if (i < own) atomicAdd(&tables.next[expert], 1u);
    }
  }
  return __syncthreads_and(fine);
}

__device__ void send_counts(const DispatchCall& call, const Message& message, const Tables& tables) {
  if (blockIdx.x != 0) return;
  const uint32_t words = (call.plan.experts + 1) / 2;
  for (int32_t distance = 1; distance < call.world().pes; ++distance) {
    Packet* packets = message.packets_to(call.trip.neighbour(distance));
    for (uint32_t word = threadIdx.x; word < words; word += blockDim.x) {
      const uint64_t high = tables.totals[2 * word + 1];
      store_packet(packets + word, high << 32 | tables.totals[2 * word], message.stamp());
    }
  }
}

// Adds what the others send. False if a wait gave up.
__device__ bool add_counts(const DispatchCall& call, const Message& message, Tables& tables) {
  const uint32_t words = (call.plan.experts + 1) / 2;
  const uint32_t all = words * (call.world().pes - 1);
  bool came = true;
  for (uint32_t i = threadIdx.x; came && i < all; i += blockDim.x) {
    const int32_t source = call.trip.neighbour(1 + i / words);
    const uint32_t word = i % words;
    uint64_t bits = 0;
    came = receive_packet(call.world(), message.awaited(source), message.packets_from(source) + word, &bits);
    const auto low = static_cast<uint32_t>(bits);
    const auto high = static_cast<uint32_t>(bits >> 32);
    atomicAdd(&tables.totals[2 * word], low);
    atomicAdd(&tables.totals[2 * word + 1], high);
    if (source > call.world().pe) continue;
    atomicAdd(&tables.next[2 * word], low);
    atomicAdd(&tables.next[2 * word + 1], high);
  }
  return __syncthreads_and(came);
}

// False if an expert would get more rows than it has room for.
__device__ bool have_room(const DispatchCall& call, Tables& tables) {
  const RowsPlan& plan = call.plan;
  for (int32_t e = threadIdx.x; e < plan.experts; e += blockDim.x) {
    if (tables.totals[e] > plan.capacity) atomicMin(&tables.full, e);
  }
  __syncthreads();
  const int32_t full = tables.full;
  if (full == INT32_MAX) return true;
  if (threadIdx.x == 0) {
    const Awaited awaited = {call.trip.collective, plan.owner(full), full, 0, 0};
    give_up(call.world(), WaitEnd::kNoRoom, awaited, plan.capacity, tables.totals[full]);
  }
  return false;
}

// What this PE keeps of the call.
__device__ void keep_counts(const DispatchCall& call, const Tables& tables) {
  if (blockIdx.x != 0) return;
  const RowsPlan& plan = call.plan;
  uint8_t* own = call.parts[call.world().pe];
  const int32_t first = plan.first_expert(call.world().pe);
  const int32_t local = plan.first_expert(call.world().pe + 1) - first;
  for (int32_t e = threadIdx.x; e < local; e += blockDim.x) {
    reinterpret_cast<uint32_t*>(own + plan.counts_at)[e] = tables.totals[first + e];
  }
  if (threadIdx.x == 0 && plan.to_experts) reinterpret_cast<RowsHead*>(own)->dispatched = call.rows;
}

// Where row `row` goes, for each entry of its table by a thread. All threads of the block make the call.
__device__ void find_places(const DispatchCall& call, Tables& tables, uint64_t row) {
  const RowsPlan& plan = call.plan;
  const auto k = static_cast<int32_t>(threadIdx.x);
  const int32_t* table = call.indices + row * plan.top;
  const int32_t expert = k < plan.top ? table[k] : -1;
  uint32_t at = 0;
  if (expert >= 0) {
    at = tables.next[expert];
    // Whoever names an expert twice sends it the row twice.
    for (int32_t j = 0; j < k; ++j) at += table[j] == expert ? 1 : 0;
  }
  __syncthreads();
  if (k < plan.top) {
    RowPlace place = {-1, 0};
    tables.targets[k] = nullptr;
    if (expert >= 0) {
      atomicAdd(&tables.next[expert], 1u);
      place.pe = plan.owner(expert);
      const uint64_t in_part = (expert - plan.first_expert(place.pe)) * plan.capacity + at;
      place.row = static_cast<uint32_t>(in_part);
      uint8_t* part = call.parts[place.pe];
      tables.targets[k] = part + plan.received_at + in_part * plan.received_bytes;
      if (plan.float8) {
        const uint64_t groups = plan.width / SPARKGAP_FLOAT8_GROUP;
        tables.scales[k] = reinterpret_cast<float*>(part + plan.scales_at) + in_part * groups;
      }
      if (call.weights != nullptr) {
        reinterpret_cast<float*>(part + plan.weights_at)[in_part] = call.weights[row * plan.top + k];
      }
    }
    if (plan.to_experts) {
      reinterpret_cast<RowPlace*>(call.parts[call.world().pe] + plan.places_at)[row * plan.top + k] = place;
    }
  }
  __syncthreads();
}

template <class Value>
__device__ void copy_row(const DispatchCall& call, const Tables& tables, const uint8_t* from) {
  const auto* source = reinterpret_cast<const Value*>(from);
  const auto count = static_cast<uint32_t>(call.plan.row_bytes / sizeof(Value));
  for (uint32_t i = threadIdx.x; i < count; i += 2 * blockDim.x) {
    const uint32_t j = i + blockDim.x;
    const Value first = load_fresh(source + i);
    const Value second = load_fresh(source + (j < count ? j : i));
    for (int32_t k = 0; k < call.plan.top; ++k) {
      auto* target = reinterpret_cast<Value*>(tables.targets[k]);
      if (target == nullptr) continue;
      target[i] = first;
      if (j < count) target[j] = second;
    }
  }
}

__device__ __noinline__ void copy_narrow_row(const DispatchCall& call, const Tables& tables, const uint8_t* from) {
  if (call.unit == 8) {
    copy_row<uint64_t>(call, tables, from);
  } else if (call.unit == 4) {
    copy_row<uint32_t>(call, tables, from);
  } else if (call.unit == 2) {
    copy_row<uint16_t>(call, tables, from);
  } else {
    copy_row<uint8_t>(call, tables, from);
  }
}

// Element: of rows that travel as float8; void: as they are.
template <class Element>
__device__ void send_rows(const DispatchCall& call, Tables& tables) {
  for (uint64_t row = call.first_row(); row < call.last_row(); ++row) {
    find_places(call, tables, row);
    const uint8_t* from = call.trip.in + row * call.plan.row_bytes;
    if constexpr (!std::is_void_v<Element>) {
      send_as_float8<Element>(from, call.plan.width, tables.targets, tables.scales, call.plan.top);
    } else if (call.unit == sizeof(uint4)) {
      copy_row<uint4>(call, tables, from);
    } else {
      copy_narrow_row(call, tables, from);
    }
  }
}

template <class Element>
__global__ void __launch_bounds__(kRowThreads, 2) dispatch_direct(const __grid_constant__ DispatchCall call) {
  __shared__ Tables tables;
  fetch_parameters(call);
  const Message message(call.trip);
  await_kernel_before();
  if (!count_rows(call, tables)) return;
  send_counts(call, message, tables);
  let_next_start();
  __syncthreads();
  if (!add_counts(call, message, tables) || !have_room(call, tables)) return;
  keep_counts(call, tables);
  Lane lane(call.world(), call.trip.collective, call.trip.signature);
  send_rows<Element>(call, tables);
  if (lane.exchange(0)) lane.finish();
}

using Kernel = void (*)(DispatchCall);

constexpr Kernel kAsTheyAre = dispatch_direct<void>;
constexpr Kernel kAsFloat8[2] = {dispatch_direct<Plain<float>>, dispatch_direct<Bfloat16>};

// The most bytes, of a power of two up to 16, that all of these are multiples of.
uint64_t unit_of(uint64_t address, uint64_t bytes) {
  uint64_t unit = sizeof(uint4);
  while ((address | bytes) % unit != 0) unit /= 2;
  return unit;
}

}  // namespace

int32_t prepare_dispatch() {
  cudaFuncAttributes attributes;
  for (const Kernel kernel : {kAsTheyAre, kAsFloat8[0], kAsFloat8[1]}) {
    const cudaError_t error = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel));
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

int32_t launch_dispatch(const KernelWorld& world, CUstream_st* stream, const RowsLaunch& launch) {
  static_assert(sizeof(DispatchCall) <= LaunchCache::kMaxParameterBytes);
  const RowsCall& call = launch.call;
  DispatchCall dispatch = {};
  dispatch.trip.world = world;
  dispatch.trip.places = places_of(static_cast<uint64_t>(world.pes));
  dispatch.trip.in = static_cast<const uint8_t*>(call.in);
  dispatch.trip.signature = launch.signature;
  dispatch.trip.collective = call.operation;
  dispatch.plan = call.plan;
  dispatch.indices = call.indices;
  dispatch.weights = call.weights;
  dispatch.rows = call.rows;
  const auto lanes = static_cast<uint64_t>(world.lanes);
  dispatch.rows_of_block = (call.rows + lanes - 1) / lanes;
  dispatch.unit = unit_of(reinterpret_cast<uint64_t>(call.in), call.plan.row_bytes);
  std::copy_n(launch.parts, world.pes, dispatch.parts);
  // PEs do not know how many rows the others have, so all lanes take part.
  const Kernel kernel = call.plan.float8 ? kAsFloat8[call.plan.type == SPARKGAP_BFLOAT16 ? 1 : 0] : kAsTheyAre;
  const LaunchShape shape = {reinterpret_cast<const void*>(kernel), world.lanes, kRowThreads, true, 0};
  return enqueue(world, stream, shape, &dispatch, sizeof dispatch);
}

}  // namespace sparkgap::kernels
