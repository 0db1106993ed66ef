#include <cuda_runtime_api.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "cublas.h"
#include "product_kernels.h"
#include "sparkgap/device.cuh"

namespace {

using product::Cublas;
using product::require;
using sparkgap::device::Bfloat16;
using sparkgap::device::Block;
using sparkgap::device::load_fresh;
using sparkgap::device::peer_address;

constexpr int kThreads = 1024;
// So many multiprocessors keep a link between two H200 busy.
constexpr int kBlocks = 16;
constexpr int kFillBlocks = 1024;
constexpr int kVectorBytes = 16;
constexpr int kInVector = 8;

// What one slice's exchange needs to know. Part p of `received` is what PE p has sent, at the place that it has among
// the rows of this PE.
struct Slice {
  sparkgap_device_buffer received;
  sparkgap_device_buffer out;
  sparkgap_device_buffer signals;
  const uint8_t* product;
  uint64_t own_bytes;  // of one PE's rows
  uint64_t bytes;      // of the slice
  int32_t number;
  bool is_last;
  bool gathers;
};

// ---- Signals: a word for each kind, slice, PE that sends it and block. All count runs, so none is ever cleared.

enum Kind { kArrived, kFreed, kGathered };

constexpr uint64_t kGatheredAt = uint64_t{2} * PRODUCT_SLICES * SPARKGAP_DEVICE_PES * kBlocks;
constexpr uint64_t kRunsAt = kGatheredAt + uint64_t{SPARKGAP_DEVICE_PES} * kBlocks;
static_assert((kRunsAt + kBlocks) * sizeof(int64_t) == PRODUCT_SIGNAL_BYTES);

// Where PE `at` has the word that the block of this number of `from` signals. Of the gathered rows the last slice's
// signal tells all.
__device__ int64_t* signal_of(const Slice& slice, Kind kind, int32_t from, int32_t at) {
  const uint64_t first = kind == kGathered
                             ? kGatheredAt
                             : (static_cast<uint64_t>(kind) * PRODUCT_SLICES + static_cast<uint64_t>(slice.number)) *
                                   SPARKGAP_DEVICE_PES * kBlocks;
  const uint64_t word = first + static_cast<uint64_t>(from) * kBlocks + blockIdx.x;
  return peer_address<int64_t>(slice.signals, at, word * sizeof(int64_t));
}

// How many runs this block has ended.
__device__ int64_t* runs_of(const Slice& slice, int32_t pe) {
  return peer_address<int64_t>(slice.signals, pe, (kRunsAt + blockIdx.x) * sizeof(int64_t));
}

// ---- Kernels

// The block's bytes of a slice.
struct Piece {
  uint64_t begin;
  uint64_t end;
};

__device__ Piece piece_of(const Slice& slice) {
  const uint64_t vectors = slice.bytes / kVectorBytes;
  return {vectors * blockIdx.x / gridDim.x * kVectorBytes, vectors * (blockIdx.x + 1) / gridDim.x * kVectorBytes};
}

// A slice of another PE's rows, to where it adds them up.
__global__ void __launch_bounds__(kThreads)
    send(const __grid_constant__ sparkgap_device_world world, const __grid_constant__ Slice slice, int32_t owner) {
  Block block(world, blockIdx.x);
  const int64_t run = *runs_of(slice, world.pe) + 1;
  // What was sent in the run before has been added up.
  if (!block.wait(signal_of(slice, kFreed, owner, world.pe), SPARKGAP_GE, run - 1)) return;
  const Piece piece = piece_of(slice);
  const uint64_t at = static_cast<uint64_t>(slice.number) * slice.bytes + piece.begin;
  const auto me = static_cast<uint64_t>(world.pe);
  block.put_signal(peer_address(slice.received, owner, me * slice.own_bytes + at),
                   slice.product + static_cast<uint64_t>(owner) * slice.own_bytes + at, piece.end - piece.begin,
                   signal_of(slice, kArrived, world.pe, owner), run);
}

__device__ void widen(const uint4& vector, float (&values)[kInVector]) {
  const uint32_t words[] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
  for (int i = 0; i < kInVector; ++i) values[i] = Bfloat16::widen(static_cast<uint16_t>(words[i / 2] >> 16 * (i % 2)));
}

__device__ uint4 narrow(const float (&values)[kInVector]) {
  uint32_t words[kInVector / 2];
#pragma unroll
  for (int i = 0; i < kInVector / 2; ++i) {
    words[i] = Bfloat16::narrow(values[2 * i]) | static_cast<uint32_t>(Bfloat16::narrow(values[2 * i + 1])) << 16;
  }
  return {words[0], words[1], words[2], words[3]};
}

// The block's bytes of a slice of this PE's rows: the sum over PEs, in their order.
__device__ void add_piece(const sparkgap_device_world& world, const Slice& slice) {
  constexpr int kInFlight = 2;
  constexpr uint64_t kStride = uint64_t{kThreads} * kVectorBytes;
  const Piece piece = piece_of(slice);
  const uint64_t first = static_cast<uint64_t>(slice.number) * slice.bytes;
  const uint64_t own = static_cast<uint64_t>(world.pe) * slice.own_bytes;
  for (uint64_t at = piece.begin + threadIdx.x * uint64_t{kVectorBytes}; at < piece.end; at += kInFlight * kStride) {
    float sums[kInFlight][kInVector];
    for (int32_t pe = 0; pe < world.pes; ++pe) {
      const uint8_t* const part =
          (pe == world.pe
               ? slice.product + own
               : peer_address<const uint8_t>(slice.received, world.pe, static_cast<uint64_t>(pe) * slice.own_bytes)) +
          first;
      uint4 vectors[kInFlight] = {};
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        if (at + k * kStride < piece.end) {
          vectors[k] = load_fresh(reinterpret_cast<const uint4*>(part + at + k * kStride));
        }
      }
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        float values[kInVector];
        widen(vectors[k], values);
#pragma unroll
        for (int i = 0; i < kInVector; ++i) sums[k][i] = pe == 0 ? values[i] : sums[k][i] + values[i];
      }
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      if (at + k * kStride >= piece.end) continue;
      const uint4 sum = narrow(sums[k]);
      if (!slice.gathers) {
        *peer_address<uint4>(slice.out, world.pe, first + at + k * kStride) = sum;
        continue;
      }
      for (int32_t pe = 0; pe < world.pes; ++pe) {
        *peer_address<uint4>(slice.out, pe, own + first + at + k * kStride) = sum;
      }
    }
  }
}

// A slice of this PE's rows; with the last one the run is over.
__global__ void __launch_bounds__(kThreads)
    add(const __grid_constant__ sparkgap_device_world world, const __grid_constant__ Slice slice) {
  Block block(world, blockIdx.x);
  int64_t* const runs = runs_of(slice, world.pe);
  const int64_t run = *runs + 1;
  for (int32_t pe = 0; pe < world.pes; ++pe) {
    if (pe == world.pe) continue;
    if (!block.wait(signal_of(slice, kArrived, pe, world.pe), SPARKGAP_GE, run)) return;
  }
  add_piece(world, slice);
  const bool tells = slice.gathers && slice.is_last;
  for (int32_t pe = 0; pe < world.pes; ++pe) {
    if (pe == world.pe) continue;
    block.signal(signal_of(slice, kFreed, world.pe, pe), run);
    if (tells) block.signal(signal_of(slice, kGathered, world.pe, pe), run);
  }
  for (int32_t pe = 0; tells && pe < world.pes; ++pe) {
    if (pe != world.pe && !block.wait(signal_of(slice, kGathered, pe, world.pe), SPARKGAP_GE, run)) return;
  }
  __syncthreads();
  if (slice.is_last && threadIdx.x == 0) *runs = run;
}

// As ProductModel makes it: multiples of 1/8 from -1/2 to 1/2.
__device__ float element(uint32_t index, uint32_t seed) {
  uint32_t hash = (index + seed) * 2654435761u;
  hash = (hash ^ hash >> 15) * 2246822519u;
  hash ^= hash >> 13;
  return (static_cast<float>((hash >> 8) % 9) - 4) / 8;
}

__global__ void fill(uint32_t rows, uint32_t inner, uint32_t pe, uint32_t pes, uint32_t seed, uint16_t* matrix) {
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * inner; i += gridDim.x * blockDim.x) {
    matrix[i] = Bfloat16::narrow(element(i / inner * inner * pes + pe * inner + i % inner, seed));
  }
}

// ---- The host's side

struct Worker {
  Cublas cublas;
  cudaStream_t beside = nullptr;  // where products are computed beside the exchange
  cudaEvent_t reached = nullptr;
  int first_priority = 0;

  ~Worker() {
    if (reached != nullptr) cudaEventDestroy(reached);
    if (beside != nullptr) cudaStreamDestroy(beside);
  }
};

thread_local std::string problem;

template <class Work>
int guarded(const Work& work) {
  try {
    work();
    return 0;
  } catch (const std::exception& e) {
    problem = e.what();
    return 1;
  }
}

cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }
Worker& worker_of(int64_t worker) { return *reinterpret_cast<Worker*>(worker); }

// The GPU of the stream becomes the thread's; who captures a stream is on it already.
void use_gpu_of(void* stream) {
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  require(cudaStreamIsCapturing(stream_of(stream), &capturing), "the stream");
  if (capturing != cudaStreamCaptureStatusNone) return;
  int gpu = 0;
  require(cudaStreamGetDevice(stream_of(stream), &gpu), "the stream's GPU");
  require(cudaSetDevice(gpu), "the stream's GPU");
}

void refuse_unless(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

// `to` goes on when what is enqueued on `from` is done.
void follow(const Worker& worker, cudaStream_t from, cudaStream_t to) {
  require(cudaEventRecord(worker.reached, from), "cudaEventRecord");
  require(cudaStreamWaitEvent(to, worker.reached, 0), "cudaStreamWaitEvent");
}

// Before the blocks of the next product, which are many, so that it is sent while that is computed.
template <class... Parameters, class... Arguments>
void launch(const Worker& worker, cudaStream_t stream, int blocks, void (*kernel)(Parameters...),
            const Arguments&... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributePriority;
  attribute.val.priority = worker.first_priority;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  require(cudaLaunchKernelEx(&config, kernel, arguments...), "an exchange");
}

void load_kernels() {
  const void* const kernels[] = {reinterpret_cast<const void*>(send), reinterpret_cast<const void*>(add),
                                 reinterpret_cast<const void*>(fill)};
  for (const void* kernel : kernels) {
    cudaFuncAttributes attributes;
    require(cudaFuncGetAttributes(&attributes, kernel), "loading the kernels");
  }
}

}  // namespace

int product_open(const char* cublas, void* stream, int64_t* worker) {
  return guarded([&] {
    auto made = std::make_unique<Worker>();
    made->cublas.load(cublas);
    use_gpu_of(stream);
    made->cublas.open();
    require(cudaStreamCreateWithFlags(&made->beside, cudaStreamNonBlocking), "cudaStreamCreate");
    require(cudaEventCreateWithFlags(&made->reached, cudaEventDisableTiming), "cudaEventCreate");
    int least = 0;
    require(cudaDeviceGetStreamPriorityRange(&least, &made->first_priority), "priorities");
    load_kernels();
    *worker = reinterpret_cast<int64_t>(made.release());
  });
}

void product_close(int64_t worker) { delete reinterpret_cast<Worker*>(worker); }

int product_fill(void* stream, int pe, int pes, int rows, int columns, int inner, void* left, void* right) {
  return guarded([&] {
    use_gpu_of(stream);
    const auto matrix = [&](int its_rows, uint32_t seed, void* to) {
      fill<<<kFillBlocks, kThreads, 0, stream_of(stream)>>>(
          static_cast<uint32_t>(its_rows), static_cast<uint32_t>(inner), static_cast<uint32_t>(pe),
          static_cast<uint32_t>(pes), seed, static_cast<uint16_t*>(to));
      require(cudaGetLastError(), "filling a matrix");
    };
    matrix(rows, 1, left);
    matrix(columns, 77'777'777, right);
  });
}

int product_multiply(int64_t worker, void* stream, int rows, int columns, int inner, const void* left,
                     const void* right, void* product) {
  return guarded([&] {
    use_gpu_of(stream);
    worker_of(worker).cublas.multiply(stream_of(stream), 0, rows, columns, inner, left, right, product);
  });
}

int product_fused(int64_t worker, void* stream, const sparkgap_device_world* world,
                  const sparkgap_device_buffer* received, const sparkgap_device_buffer* out,
                  const sparkgap_device_buffer* signals, int rows, int columns, int inner, int slices, int gathers,
                  const void* left, const void* right, void* product) {
  return guarded([&] {
    refuse_unless(world->layout == SPARKGAP_DEVICE_LAYOUT,
                  "the kernels are of another release than the world's library");
    const int pes = world->pes;
    refuse_unless(slices >= 1 && slices <= PRODUCT_SLICES && rows > 0 && rows % (pes * slices) == 0,
                  std::to_string(rows) + " rows cannot be made in " + std::to_string(slices) + " slices on each of " +
                      std::to_string(pes) + " PEs: pass a multiple of both, and at most " +
                      std::to_string(PRODUCT_SLICES) + " slices");
    refuse_unless(columns > 0 && columns % kInVector == 0,
                  "columns is " + std::to_string(columns) + ": pass a multiple of 8");
    const uint64_t row_bytes = static_cast<uint64_t>(columns) * sizeof(uint16_t);
    const uint64_t all_bytes = static_cast<uint64_t>(rows) * row_bytes;
    const int own_rows = rows / pes;
    const int slice_rows = own_rows / slices;
    const uint64_t own_bytes = all_bytes / static_cast<uint64_t>(pes);
    refuse_unless(received->bytes >= all_bytes && out->bytes >= (gathers != 0 ? all_bytes : own_bytes) &&
                      signals->bytes >= PRODUCT_SIGNAL_BYTES,
                  "a symmetric buffer is too small for the product");
    use_gpu_of(stream);
    Worker& at_work = worker_of(worker);
    const int blocks = world->lanes < kBlocks ? world->lanes : kBlocks;
    follow(at_work, stream_of(stream), at_work.beside);
    // Whatever is sent to others first, and what is wanted here last, when all of them have sent theirs.
    for (int distance = 1; distance <= pes; ++distance) {
      const int owner = (world->pe + distance) % pes;
      for (int number = 0; number < slices; ++number) {
        const auto first = static_cast<uint64_t>(owner * own_rows + number * slice_rows);
        at_work.cublas.multiply(at_work.beside, blocks, slice_rows, columns, inner,
                                static_cast<const uint16_t*>(left) + first * static_cast<uint64_t>(inner), right,
                                static_cast<uint8_t*>(product) + first * row_bytes);
        follow(at_work, at_work.beside, stream_of(stream));
        const Slice slice = {*received,   *out,
                             *signals,    static_cast<const uint8_t*>(product),
                             own_bytes,   static_cast<uint64_t>(slice_rows) * row_bytes,
                             number,      number == slices - 1,
                             gathers != 0};
        if (owner == world->pe) {
          launch(at_work, stream_of(stream), blocks, add, *world, slice);
        } else {
          launch(at_work, stream_of(stream), blocks, send, *world, slice, owner);
        }
      }
    }
  });
}

const char* product_problem(void) { return problem.c_str(); }
