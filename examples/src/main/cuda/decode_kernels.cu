#include <cuda_runtime_api.h>

#include "decode_kernels.h"
#include "sparkgap/device.cuh"

namespace {

using sparkgap::device::Grid;
using sparkgap::device::Share;

constexpr int kInputs = DECODE_INPUTS;
constexpr int kThreads = 512;
constexpr int kBlocks = 128;
static_assert(kInputs == 32, "a warp has a row");

// As DecodeModel makes them: from -1/2 to 1/2, scaled so that the layers neither grow nor shrink.
__global__ void make_weights(uint32_t count, int width, int pe, int pes, float scale, float* weights) {
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    uint32_t hash = (i * static_cast<uint32_t>(pes) + static_cast<uint32_t>(pe)) * 2654435761u;
    hash = (hash ^ hash >> 15) * 2246822519u;
    hash ^= hash >> 13;
    weights[i] = (static_cast<float>(hash >> 8) * 0x1p-24f - 0.5f) * scale;
  }
}

// By a warp: the part of one row's product whose inputs are this PE's, in all threads.
__device__ float row_part(const float* weights, const float* state, int width, int pe, int pes, uint64_t row) {
  const int lane = static_cast<int>(threadIdx.x) % kInputs;
  const int input = (lane * pes + pe) * (width / (kInputs * pes));
  float part = weights[row * kInputs + lane] * state[input];
  for (int distance = kInputs / 2; distance > 0; distance /= 2) part += __shfl_xor_sync(0xffffffffu, part, distance);
  return part;
}

__device__ void rows(const float* weights, const float* state, float* sums, int width, int pe, int pes,
                     const Share& share) {
  for (uint64_t row = share.begin + threadIdx.x / kInputs; row < share.end; row += blockDim.x / kInputs) {
    const float part = row_part(weights, state, width, pe, pes, row);
    if (threadIdx.x % kInputs == 0) sums[row] = part;
  }
}

__global__ void __launch_bounds__(kThreads)
    product(int width, int pe, int pes, const float* weights, const float* state, float* sums) {
  const uint64_t each = (static_cast<uint64_t>(width) + gridDim.x - 1) / gridDim.x;
  const uint64_t begin = min(static_cast<uint64_t>(width), blockIdx.x * each);
  rows(weights, state, sums, width, pe, pes, {begin, min(static_cast<uint64_t>(width), begin + each)});
}

__global__ void __launch_bounds__(kThreads)
    all_layers(const __grid_constant__ sparkgap_device_world world, int layers, int width, const float* weights,
               float* state, float* sums, bool exchanges) {
  Grid grid(world);
  const Share own = grid.share(static_cast<uint64_t>(width), sizeof(float));
  for (int layer = 0; layer < layers; ++layer) {
    rows(weights + static_cast<uint64_t>(layer) * width * kInputs, state, sums, width, world.pe, world.pes, own);
    if (exchanges && !grid.all_reduce_share(sums, sums, static_cast<uint64_t>(width))) return;
    // Every block has all sums, and has read all of the state, which is overwritten next.
    if (!grid.sync()) return;
    float* const next = state;
    state = sums;
    sums = next;
  }
}

cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }

// The GPU of the stream becomes the thread's. A stream in capture does not say which that is; whoever captures it is on
// it already.
cudaError_t use_gpu_of(void* stream) {
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  cudaError_t error = cudaStreamIsCapturing(stream_of(stream), &capturing);
  if (error != cudaSuccess || capturing != cudaStreamCaptureStatusNone) return error;
  int device = 0;
  error = cudaStreamGetDevice(stream_of(stream), &device);
  return error == cudaSuccess ? cudaSetDevice(device) : error;
}

}  // namespace

int decode_load(void) {
  cudaFuncAttributes attributes;
  cudaError_t error = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(make_weights));
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(product));
  if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(all_layers));
  return error;
}

int decode_weights(void* stream, int layers, int width, int pe, int pes, float* weights) {
  const cudaError_t error = use_gpu_of(stream);
  if (error != cudaSuccess) return error;
  const auto count = static_cast<uint32_t>(layers) * static_cast<uint32_t>(width) * kInputs;
  const float scale = sqrtf(12.0f / static_cast<float>(kInputs * pes));
  make_weights<<<kBlocks, kThreads, 0, stream_of(stream)>>>(count, width, pe, pes, scale, weights);
  return cudaGetLastError();
}

int decode_product(void* stream, int width, int pe, int pes, const float* layer_weights, const float* state,
                   float* sums) {
  const cudaError_t error = use_gpu_of(stream);
  if (error != cudaSuccess) return error;
  product<<<kBlocks, kThreads, 0, stream_of(stream)>>>(width, pe, pes, layer_weights, state, sums);
  return cudaGetLastError();
}

int decode_layers(void* stream, const sparkgap_device_world* world, int layers, int width, const float* weights,
                  float* state, float* sums, int exchanges) {
  if (world->layout != SPARKGAP_DEVICE_LAYOUT) return cudaErrorInvalidValue;
  const cudaError_t error = use_gpu_of(stream);
  if (error != cudaSuccess) return error;
  const int blocks = world->lanes < kBlocks ? world->lanes : kBlocks;
  all_layers<<<blocks, kThreads, 0, stream_of(stream)>>>(*world, layers, width, weights, state, sums, exchanges != 0);
  return cudaGetLastError();
}

const char* decode_status_text(int status) { return cudaGetErrorString(static_cast<cudaError_t>(status)); }
