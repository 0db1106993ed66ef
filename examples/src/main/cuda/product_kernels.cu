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
using sparkgap::device::load_fresh;
using sparkgap::device::peer_address;
using sparkgap::device::signal;
using sparkgap::device::wait;

constexpr int kThreads = 1024;
constexpr int kManyBlocks = 1024;
constexpr int kOneWarp = 32;
constexpr int kVectorBytes = 16;
constexpr int kInVector = 8;

// ---- Signals: words of which each PE has one for every other PE and what that tells it. All count runs, so none is
// ever cleared.

constexpr int kReadyAt = 0;                      // the PE has begun: its memory may be written
constexpr int kArrivedAt = SPARKGAP_DEVICE_PES;  // [slice]: of this PE's rows
constexpr int kGatheredAt = kArrivedAt + PRODUCT_SLICES * SPARKGAP_DEVICE_PES;  // all sums of that PE's rows
constexpr int kRunsAt = kGatheredAt + SPARKGAP_DEVICE_PES;                      // how many this PE has ended
static_assert((kRunsAt + 1) * sizeof(int64_t) <= PRODUCT_SIGNAL_BYTES);

__device__ int64_t* word_of(const sparkgap_device_buffer& signals, int32_t pe, int32_t number) {
  return peer_address<int64_t>(signals, pe, static_cast<uint64_t>(number) * sizeof(int64_t));
}

// Each thread of the one warp has a PE.
__device__ bool is_peer(const sparkgap_device_world& world) {
  const auto pe = static_cast<int32_t>(threadIdx.x);
  return pe < world.pes && pe != world.pe;
}

// ---- Kernels

// Tells one PE, or all if it is -1, what the words at `first` are for, behind all that was enqueued before.
__global__ void tell(const __grid_constant__ sparkgap_device_world world,
                     const __grid_constant__ sparkgap_device_buffer signals, int32_t first, int32_t whom) {
  const auto pe = static_cast<int32_t>(threadIdx.x);
  if (!is_peer(world) || (whom >= 0 && pe != whom)) return;
  signal(word_of(signals, pe, first + world.pe), *word_of(signals, world.pe, kRunsAt) + 1);
}

// Waits until all other PEs have told that in this run. If `ends`, the run is over then.
__global__ void hear(const __grid_constant__ sparkgap_device_world world,
                     const __grid_constant__ sparkgap_device_buffer signals, int32_t first, bool ends) {
  int64_t* const runs = word_of(signals, world.pe, kRunsAt);
  const int64_t run = *runs + 1;
  const auto pe = static_cast<int32_t>(threadIdx.x);
  bool heard = true;
  if (first >= 0 && is_peer(world)) {
    heard = wait(world, word_of(signals, world.pe, first + pe), SPARKGAP_GE, run, pe);
  }
  if (__syncthreads_and(heard) && ends && threadIdx.x == 0) *runs = run;
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

// What the other PEs have sent of some rows of this PE, added up in PE order. Part p of `received`, `stride` bytes
// behind the one before, is PE p's.
__global__ void __launch_bounds__(kThreads)
    add_others(int32_t me, int32_t pes, const uint8_t* received, uint64_t stride, uint64_t bytes, uint8_t* out) {
  const uint64_t step = uint64_t{kVectorBytes} * gridDim.x * blockDim.x;
  for (uint64_t at = uint64_t{kVectorBytes} * (blockIdx.x * blockDim.x + threadIdx.x); at < bytes; at += step) {
    float sums[kInVector];
    bool is_first = true;
    for (int32_t pe = 0; pe < pes; ++pe) {
      if (pe == me) continue;
      float values[kInVector];
      widen(load_fresh(reinterpret_cast<const uint4*>(received + static_cast<uint64_t>(pe) * stride + at)), values);
#pragma unroll
      for (int i = 0; i < kInVector; ++i) sums[i] = is_first ? values[i] : sums[i] + values[i];
      is_first = false;
    }
    *reinterpret_cast<uint4*>(out + at) = narrow(sums);
  }
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
  cudaStream_t beside = nullptr;  // where slices are sent beside the products
  cudaEvent_t reached = nullptr;

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

// One run of product_fused.
struct Fused {
  Worker& worker;
  cudaStream_t stream;  // of the products
  const sparkgap_device_world& world;
  const sparkgap_device_buffer& received;
  const sparkgap_device_buffer& out;
  const sparkgap_device_buffer& signals;
  int columns;
  int inner;
  int slices;
  int own_rows;    // of each PE
  int slice_rows;  // of a slice of those
  uint64_t row_bytes;
  bool gathers;
  const uint16_t* left;
  const void* right;
  uint8_t* product;

  void run() const {
    const bool has_peers = world.pes > 1;
    if (has_peers) tell_on(stream, kReadyAt, -1);
    follow(worker, stream, worker.beside);
    if (has_peers) hear_on(worker.beside, kReadyAt, false);
    // What others wait for first.
    for (int distance = 1; distance < world.pes; ++distance) {
      for (int number = 0; number < slices; ++number) send((world.pe + distance) % world.pes, number);
    }
    for (int number = 0; number < slices; ++number) finish(number);
    follow(worker, worker.beside, stream);
    hear_on(stream, has_peers && gathers ? kGatheredAt : -1, true);
  }

 private:
  int first_row(int pe, int number) const { return pe * own_rows + number * slice_rows; }
  uint64_t bytes_of(int its_rows) const { return static_cast<uint64_t>(its_rows) * row_bytes; }

  // Where a PE's sums are in its `out` or in that of another, which has the rows of all if it has any.
  uint8_t* out_of(int pe, int its_pe, int number) const {
    return peer(out, pe) + bytes_of(gathers ? first_row(its_pe, number) : number * slice_rows);
  }
  static uint8_t* peer(const sparkgap_device_buffer& buffer, int pe) { return static_cast<uint8_t*>(buffer.parts[pe]); }

  // With one other PE there is nothing to add up but what it sends and what is computed here, in `out`.
  bool stages() const { return world.pes > 2; }

  void multiply(int pe, int number, bool adds, void* to) const {
    const int first = first_row(pe, number);
    worker.cublas.multiply(stream, adds, slice_rows, columns, inner,
                           left + static_cast<uint64_t>(first) * static_cast<uint64_t>(inner), right, to);
  }

  // A slice of another PE's rows.
  void send(int owner, int number) const {
    uint8_t* const from = product + bytes_of(first_row(owner, number));
    multiply(owner, number, false, from);
    follow(worker, stream, worker.beside);
    copy(stages() ? peer(received, owner) + bytes_of(first_row(world.pe, number)) : out_of(owner, owner, number), from);
    tell_on(worker.beside, kArrivedAt + number * SPARKGAP_DEVICE_PES, owner);
  }

  // A slice of this PE's rows, onto what the others have sent.
  void finish(int number) const {
    const bool has_peers = world.pes > 1;
    uint8_t* const to = out_of(world.pe, world.pe, number);
    if (has_peers) hear_on(stream, kArrivedAt + number * SPARKGAP_DEVICE_PES, false);
    if (stages()) {
      add_others<<<kManyBlocks, kThreads, 0, stream>>>(world.pe, world.pes,
                                                       peer(received, world.pe) + bytes_of(number * slice_rows),
                                                       bytes_of(own_rows), bytes_of(slice_rows), to);
      require(cudaGetLastError(), "adding up");
    }
    multiply(world.pe, number, has_peers, to);
    if (!has_peers || !gathers) return;
    follow(worker, stream, worker.beside);
    for (int distance = 1; distance < world.pes; ++distance) {
      copy(out_of((world.pe + distance) % world.pes, world.pe, number), to);
    }
    if (number == slices - 1) tell_on(worker.beside, kGatheredAt, -1);
  }

  // By the GPU's copy engine, which takes no multiprocessor from the products.
  void copy(void* to, const void* from) const {
    require(cudaMemcpyAsync(to, from, bytes_of(slice_rows), cudaMemcpyDefault, worker.beside), "sending a slice");
  }

  void tell_on(cudaStream_t where, int first, int whom) const {
    tell<<<1, kOneWarp, 0, where>>>(world, signals, first, whom);
    require(cudaGetLastError(), "a signal");
  }
  void hear_on(cudaStream_t where, int first, bool ends) const {
    hear<<<1, kOneWarp, 0, where>>>(world, signals, first, ends);
    require(cudaGetLastError(), "waiting for a signal");
  }
};

void refuse(const sparkgap_device_world& world, const sparkgap_device_buffer& received,
            const sparkgap_device_buffer& out, const sparkgap_device_buffer& signals, int rows, int columns, int slices,
            bool gathers) {
  refuse_unless(world.layout == SPARKGAP_DEVICE_LAYOUT, "the kernels are of another release than the world's library");
  refuse_unless(slices >= 1 && slices <= PRODUCT_SLICES && rows > 0 && rows % (world.pes * slices) == 0,
                std::to_string(rows) + " rows cannot be made in " + std::to_string(slices) + " slices on each of " +
                    std::to_string(world.pes) + " PEs: pass a multiple of both, and at most " +
                    std::to_string(PRODUCT_SLICES) + " slices");
  refuse_unless(columns > 0 && columns % kInVector == 0,
                "columns is " + std::to_string(columns) + ": pass a multiple of 8");
  const uint64_t all_bytes = static_cast<uint64_t>(rows) * static_cast<uint64_t>(columns) * sizeof(uint16_t);
  const uint64_t out_bytes = gathers ? all_bytes : all_bytes / static_cast<uint64_t>(world.pes);
  refuse_unless(received.bytes >= all_bytes && out.bytes >= out_bytes && signals.bytes >= PRODUCT_SIGNAL_BYTES,
                "a symmetric buffer is too small for the product");
}

void load_kernels() {
  const void* const kernels[] = {reinterpret_cast<const void*>(tell), reinterpret_cast<const void*>(hear),
                                 reinterpret_cast<const void*>(add_others), reinterpret_cast<const void*>(fill)};
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
    load_kernels();
    *worker = reinterpret_cast<int64_t>(made.release());
  });
}

void product_close(int64_t worker) { delete reinterpret_cast<Worker*>(worker); }

int product_fill(void* stream, int pe, int pes, int rows, int columns, int inner, void* left, void* right) {
  return guarded([&] {
    use_gpu_of(stream);
    const auto matrix = [&](int its_rows, uint32_t seed, void* to) {
      fill<<<kManyBlocks, kThreads, 0, stream_of(stream)>>>(
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
    worker_of(worker).cublas.multiply(stream_of(stream), false, rows, columns, inner, left, right, product);
  });
}

int product_fused(int64_t worker, void* stream, const sparkgap_device_world* world,
                  const sparkgap_device_buffer* received, const sparkgap_device_buffer* out,
                  const sparkgap_device_buffer* signals, int rows, int columns, int inner, int slices, int gathers,
                  const void* left, const void* right, void* product) {
  return guarded([&] {
    refuse(*world, *received, *out, *signals, rows, columns, slices, gathers != 0);
    use_gpu_of(stream);
    const Fused fused = {worker_of(worker),
                         stream_of(stream),
                         *world,
                         *received,
                         *out,
                         *signals,
                         columns,
                         inner,
                         slices,
                         rows / world->pes,
                         rows / world->pes / slices,
                         static_cast<uint64_t>(columns) * sizeof(uint16_t),
                         gathers != 0,
                         static_cast<const uint16_t*>(left),
                         right,
                         static_cast<uint8_t*>(product)};
    fused.run();
  });
}

const char* product_problem(void) { return problem.c_str(); }
