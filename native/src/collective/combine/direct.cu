// combine on GPUs: each PE reads what the experts made of its rows where it lies, in the buffers of the experts' PEs.
//
//   step 1 of each lane: all results are there
//   element i of row r of out = weight 0 * element i of the result of its first expert + weight 1 * ...    in this
//   order step 2: all have read, and results may be written again
//
//   thread t of the grid has 16 bytes of a row, then those that lie as many threads further on in `out`
#include "collective/lanes.cuh"
#include "collective/rows_kernels.h"
#include "sparkgap/device/elements.cuh"

namespace sparkgap::kernels {
namespace {

constexpr int32_t kCombineThreads = 512;

// Results of a row that are on their way at once.
constexpr int32_t kInFlight = 8;

struct CombineCall {
  KernelWorld world;
  RowsPlan plan;
  const float* weights;
  uint8_t* out;
  uint64_t rows;
  uint32_t signature;
  uint8_t* parts[kMaxPes];
};

// `count` elements that are loaded and stored at once.
template <class Element, class Value>
struct Piece {
  using Stored = typename Element::Stored;
  static constexpr int kElements = sizeof(Value) / sizeof(Stored);
  union Bits {
    Value value;
    Stored elements[kElements];
  };

  float sums[kElements];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int e = 0; e < kElements; ++e) sums[e] = 0;
  }
  // Multiplied and added one after the other, as on the host.
  __device__ __forceinline__ void add(const Value& value, float weight) {
    Bits bits;
    bits.value = value;
#pragma unroll
    for (int e = 0; e < kElements; ++e) {
      sums[e] = __fadd_rn(sums[e], __fmul_rn(weight, Element::widen(bits.elements[e])));
    }
  }
  __device__ __forceinline__ Value result() const {
    Bits bits;
#pragma unroll
    for (int e = 0; e < kElements; ++e) bits.elements[e] = Element::narrow(sums[e]);
    return bits.value;
  }
};

// Piece `at` of a row's sum, of which `table` is where its results are.
template <class Element, class Value>
__device__ __forceinline__ Value sum_piece(const CombineCall& call, uint64_t table, uint64_t at) {
  const RowsPlan& plan = call.plan;
  const auto* places = reinterpret_cast<const RowPlace*>(call.parts[call.world.pe] + plan.places_at) + table;
  Piece<Element, Value> piece;
  piece.clear();
#pragma unroll 1
  for (int32_t first = 0; first < plan.top; first += kInFlight) {
    Value values[kInFlight];
    float weights[kInFlight];
#pragma unroll
    for (int32_t k = 0; k < kInFlight; ++k) {
      weights[k] = 0;
      if (first + k >= plan.top) continue;
      const RowPlace place = places[first + k];
      if (place.pe < 0) continue;
      weights[k] = call.weights == nullptr ? 1.0f : call.weights[table + first + k];
      if (weights[k] == 0) continue;
      const uint8_t* result = call.parts[place.pe] + plan.results_at + place.row * plan.row_bytes;
      values[k] = load_fresh(reinterpret_cast<const Value*>(result) + at);
    }
#pragma unroll
    for (int32_t k = 0; k < kInFlight; ++k) {
      if (weights[k] != 0) piece.add(values[k], weights[k]);
    }
  }
  return piece.result();
}

template <class Element, class Value>
__device__ __forceinline__ void sum_rows(const CombineCall& call) {
  const uint64_t pieces = call.plan.row_bytes / sizeof(Value);
  const uint64_t threads = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  uint64_t at = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
  uint64_t row = at / pieces;
  at -= row * pieces;
  const uint64_t further = threads / pieces;
  const uint64_t rest = threads - further * pieces;
#pragma unroll 1
  while (row < call.rows) {
    reinterpret_cast<Value*>(call.out + row * call.plan.row_bytes)[at] =
        sum_piece<Element, Value>(call, row * call.plan.top, at);
    row += further;
    at += rest;
    if (at >= pieces) {
      at -= pieces;
      ++row;
    }
  }
}

template <class Element, class Value>
__global__ void __launch_bounds__(kCombineThreads) combine_direct(const __grid_constant__ CombineCall call) {
  Lane lane(call.world, SPARKGAP_COMBINE, call.signature);
  const uint64_t dispatched = reinterpret_cast<const RowsHead*>(call.parts[call.world.pe])->dispatched;
  if (dispatched != call.rows) {
    if (threadIdx.x == 0) lane.refuse(WaitEnd::kRowsDiffer, -1, dispatched, call.rows);
    return;
  }
  if (!lane.exchange(0)) return;
  sum_rows<Element, Value>(call);
  lane.next_step();
  if (lane.exchange(0)) lane.finish();
}

using Kernel = void (*)(CombineCall);

// By 16 bytes, and by elements where rows are no multiple of that.
constexpr Kernel kOfFloat32[2] = {combine_direct<Plain<float>, uint4>, combine_direct<Plain<float>, float>};
constexpr Kernel kOfBfloat16[2] = {combine_direct<Bfloat16, uint4>, combine_direct<Bfloat16, uint16_t>};

}  // namespace

int32_t prepare_combine() {
  cudaFuncAttributes attributes;
  for (const Kernel* kernels : {kOfFloat32, kOfBfloat16}) {
    for (int32_t i = 0; i < 2; ++i) {
      const cudaError_t error = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernels[i]));
      if (error != cudaSuccess) return error;
    }
  }
  return cudaSuccess;
}

int32_t launch_combine(const KernelWorld& world, CUstream_st* stream, const RowsLaunch& launch) {
  static_assert(sizeof(CombineCall) <= LaunchCache::kMaxParameterBytes);
  const RowsCall& call = launch.call;
  CombineCall combine = {};
  combine.world = world;
  combine.plan = call.plan;
  combine.weights = call.weights;
  combine.out = static_cast<uint8_t*>(call.out);
  combine.rows = call.rows;
  combine.signature = launch.signature;
  std::copy_n(launch.parts, world.pes, combine.parts);
  const bool narrow = (reinterpret_cast<uint64_t>(call.out) | call.plan.row_bytes) % sizeof(uint4) != 0;
  const Kernel* kernels = call.plan.type == SPARKGAP_BFLOAT16 ? kOfBfloat16 : kOfFloat32;
  const LaunchShape shape = {reinterpret_cast<const void*>(kernels[narrow ? 1 : 0]), world.lanes, kCombineThreads, true,
                             0};
  return enqueue(world, stream, shape, &combine, sizeof combine);
}

}  // namespace sparkgap::kernels
