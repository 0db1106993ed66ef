#include <cuda_runtime_api.h>

#include <chrono>

#include "digits_kernels.h"

namespace {

constexpr int kPixels = DIGITS_PIXELS;
constexpr int kClasses = DIGITS_CLASSES;
constexpr int kWarp = 32;

// Where an image has a block to itself, each class has a warp of it.
constexpr int kImageThreads = kClasses * kWarp;
constexpr int kWeightThreads = 256;

// Where the parts of the weights begin, and of all that lies like them.
struct Layout {
  int hidden;

  __host__ __device__ int hidden_biases() const { return kPixels * hidden; }
  __host__ __device__ int output_weights() const { return (kPixels + 1) * hidden; }
  __host__ __device__ int output_biases() const { return output_weights() + hidden * kClasses; }
  __host__ __device__ int parameters() const { return output_biases() + kClasses; }
};

// What the first kernel of a gradient leaves for the second. A delta is the derivative of an image's loss by what goes
// into a neuron.
struct Scratch {
  float* active;         // [count][hidden], what comes out of the hidden layer
  float* hidden_deltas;  // [count][hidden]
  float* output_deltas;  // [count][classes]
};

// One image through the network, by a block of kImageThreads: `active` and `scores` are in shared memory and whole when
// this returns.
__device__ void forward(Layout at, const float* weights, const float* pixels, float* active, float* scores) {
  for (int h = threadIdx.x; h < at.hidden; h += kImageThreads) {
    float sum = weights[at.hidden_biases() + h];
    for (int i = 0; i < kPixels; ++i) sum += pixels[i] * weights[i * at.hidden + h];
    active[h] = fmaxf(0, sum);
  }
  __syncthreads();
  const int c = threadIdx.x / kWarp;
  const int lane = threadIdx.x % kWarp;
  const float* to_class = weights + at.output_weights() + c;
  float sum = 0;
  for (int h = lane; h < at.hidden; h += kWarp) sum += active[h] * to_class[h * kClasses];
  for (int distance = kWarp / 2; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
  if (lane == 0) scores[c] = weights[at.output_biases() + c] + sum;
  __syncthreads();
}

// A block an image of the batch: forward, its loss, and back to the deltas of both layers.
__global__ void find_deltas(Layout at, const float* weights, const float* images, const int32_t* labels,
                            const int32_t* order, Scratch scratch, float* losses) {
  extern __shared__ float active[];
  __shared__ float scores[kClasses];
  __shared__ float deltas[kClasses];
  const int position = blockIdx.x;
  const int image = order[position];
  forward(at, weights, images + image * kPixels, active, scores);

  if (threadIdx.x < kClasses) {
    // The derivative of cross-entropy by a score: softmax minus the right answer.
    const int c = threadIdx.x;
    float highest = scores[0];
    for (int o = 1; o < kClasses; ++o) highest = fmaxf(highest, scores[o]);
    float total = 0;
    for (int o = 0; o < kClasses; ++o) total += expf(scores[o] - highest);
    const bool is_right = c == labels[image];
    deltas[c] = expf(scores[c] - highest) / total - (is_right ? 1.0f : 0.0f);
    scratch.output_deltas[position * kClasses + c] = deltas[c];
    if (is_right) losses[position] = logf(total) - (scores[c] - highest);
  }
  __syncthreads();

  for (int h = threadIdx.x; h < at.hidden; h += kImageThreads) {
    const float* from_neuron = weights + at.output_weights() + h * kClasses;
    float sum = 0;
    for (int c = 0; c < kClasses; ++c) sum += from_neuron[c] * deltas[c];
    scratch.active[position * at.hidden + h] = active[h];
    scratch.hidden_deltas[position * at.hidden + h] = active[h] > 0 ? sum : 0;
  }
}

// A thread a weight: the mean over the batch of what comes in by it times the delta of the neuron that it goes to.
__global__ void average_gradient(Layout at, const float* images, const int32_t* order, int count, Scratch scratch,
                                 float* gradient) {
  const int parameter = blockIdx.x * kWeightThreads + threadIdx.x;
  if (parameter >= at.parameters()) return;
  const bool is_output = parameter >= at.output_weights();
  const int place = is_output ? parameter - at.output_weights() : parameter;
  const int inputs = is_output ? at.hidden : kPixels;
  const int neurons = is_output ? kClasses : at.hidden;
  const float* deltas = is_output ? scratch.output_deltas : scratch.hidden_deltas;
  const int input = place / neurons;  // after the last input comes the row of the biases
  const int neuron = place % neurons;
  float sum = 0;
  for (int position = 0; position < count; ++position) {
    const float* in = is_output ? scratch.active + position * at.hidden : images + order[position] * kPixels;
    sum += (input < inputs ? in[input] : 1.0f) * deltas[position * neurons + neuron];
  }
  gradient[parameter] = sum * (1.0f / count);
}

__global__ void take_step(int parameters, const float* gradient, float momentum, float rate, float* velocity,
                          float* weights) {
  const int i = blockIdx.x * kWeightThreads + threadIdx.x;
  if (i >= parameters) return;
  velocity[i] = momentum * velocity[i] - rate * gradient[i];
  weights[i] += velocity[i];
}

// A block an image.
__global__ void name_digit(Layout at, const float* weights, const float* images, int32_t* named) {
  extern __shared__ float active[];
  __shared__ float scores[kClasses];
  forward(at, weights, images + blockIdx.x * kPixels, active, scores);
  if (threadIdx.x != 0) return;
  int best = 0;
  for (int c = 1; c < kClasses; ++c) {
    if (scores[c] > scores[best]) best = c;
  }
  named[blockIdx.x] = best;
}

__global__ void do_nothing() {}

int blocks_for(int parameters) { return (parameters + kWeightThreads - 1) / kWeightThreads; }

// Kernels are launched on the thread's current GPU, and the stream must be one of that.
cudaError_t use_gpu_of(cudaStream_t stream) {
  int gpu = 0;
  const cudaError_t error = cudaStreamGetDevice(stream, &gpu);
  return error == cudaSuccess ? cudaSetDevice(gpu) : error;
}

}  // namespace

int digits_gradient(void* stream, int hidden, const float* weights, const float* images, const int32_t* labels,
                    const int32_t* order, int count, float* scratch, float* losses, float* gradient) {
  const auto on = static_cast<cudaStream_t>(stream);
  const cudaError_t error = use_gpu_of(on);
  if (error != cudaSuccess) return error;
  const Layout at{hidden};
  const Scratch parts{scratch, scratch + count * hidden, scratch + 2 * count * hidden};
  find_deltas<<<count, kImageThreads, hidden * sizeof(float), on>>>(at, weights, images, labels, order, parts, losses);
  average_gradient<<<blocks_for(at.parameters()), kWeightThreads, 0, on>>>(at, images, order, count, parts, gradient);
  return cudaGetLastError();
}

int digits_step(void* stream, int parameters, const float* gradient, float momentum, float rate, float* velocity,
                float* weights) {
  const auto on = static_cast<cudaStream_t>(stream);
  const cudaError_t error = use_gpu_of(on);
  if (error != cudaSuccess) return error;
  take_step<<<blocks_for(parameters), kWeightThreads, 0, on>>>(parameters, gradient, momentum, rate, velocity, weights);
  return cudaGetLastError();
}

int digits_classify(void* stream, int hidden, const float* weights, const float* images, int count, int32_t* named) {
  const auto on = static_cast<cudaStream_t>(stream);
  const cudaError_t error = use_gpu_of(on);
  if (error != cudaSuccess) return error;
  name_digit<<<count, kImageThreads, hidden * sizeof(float), on>>>(Layout{hidden}, weights, images, named);
  return cudaGetLastError();
}

int digits_empty_kernel(void* stream, int repetitions, double* micros) {
  const auto on = static_cast<cudaStream_t>(stream);
  cudaError_t error = use_gpu_of(on);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repetitions && error == cudaSuccess; ++i) {
    do_nothing<<<1, kWarp, 0, on>>>();
    error = cudaStreamSynchronize(on);
  }
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  *micros = took.count() / repetitions;
  return error;
}

const char* digits_status_text(int status) { return cudaGetErrorString(static_cast<cudaError_t>(status)); }
