#include <time.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "collective/launch_cache.h"

namespace sparkgap::kernels {
namespace {

// Compute capability with programmatic launches.
constexpr int32_t kOverlapsFrom = 9;

// What a small call takes the GPU if it does not overlap with the one before, us: a host that launches in less keeps
// up.
constexpr double kSmallCallUs = 3.3;

// Launches that are measured, in batches of which the median counts.
constexpr int kLaunches = 32;
constexpr int kBatches = 5;

double now_us() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

// What a graph has until it is first used.
__global__ void nothing() {}

cudaKernelNodeParams node_parameters(const LaunchShape& shape, void** arguments) {
  cudaKernelNodeParams parameters = {};
  parameters.func = const_cast<void*>(shape.kernel);
  parameters.gridDim = dim3(static_cast<unsigned>(shape.lanes));
  parameters.blockDim = dim3(static_cast<unsigned>(shape.threads));
  parameters.sharedMemBytes = shape.shared_bytes;
  parameters.kernelParams = arguments;
  return parameters;
}

bool same(const LaunchShape& a, const LaunchShape& b) {
  return a.kernel == b.kernel && a.lanes == b.lanes && a.threads == b.threads && a.shared_bytes == b.shared_bytes;
}

int32_t launch_kernel(int64_t compute_major, CUstream_st* stream, const LaunchShape& shape, const void* parameters) {
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(shape.lanes));
  config.blockDim = dim3(static_cast<unsigned>(shape.threads));
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = compute_major >= kOverlapsFrom ? 1 : 0;
  void* arguments[] = {const_cast<void*>(parameters)};
  return cudaLaunchKernelExC(&config, shape.kernel, arguments);
}

}  // namespace

LaunchCache::~LaunchCache() {
  for (Entry& entry : entries_) {
    if (entry.executable != nullptr) cudaGraphExecDestroy(entry.executable);
    if (entry.graph != nullptr) cudaGraphDestroy(entry.graph);
  }
}

int32_t LaunchCache::measure(int32_t compute_major) {
  if (compute_major < kOverlapsFrom) return cudaSuccess;
  cudaStream_t stream = nullptr;
  cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const LaunchShape shape = {reinterpret_cast<const void*>(nothing), 1, 1, true, 0};
  double batches[kBatches] = {};
  for (double& batch : batches) {
    const double start = now_us();
    for (int i = 0; i < kLaunches && error == cudaSuccess; ++i) {
      error = static_cast<cudaError_t>(launch_kernel(compute_major, stream, shape, nullptr));
    }
    batch = (now_us() - start) / kLaunches;
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
  }
  if (stream != nullptr) cudaStreamDestroy(stream);
  std::sort(batches, batches + kBatches);
  host_keeps_up_ = batches[kBatches / 2] < kSmallCallUs;
  return error;
}

int32_t LaunchCache::fill(int32_t compute_major) {
  const LaunchShape shape = {reinterpret_cast<const void*>(nothing), 1, 1, false, 0};
  const cudaKernelNodeParams parameters = node_parameters(shape, nullptr);
  for (Entry& entry : entries_) {
    cudaError_t error = cudaGraphCreate(&entry.graph, 0);
    if (error == cudaSuccess) error = cudaGraphAddKernelNode(&entry.node, entry.graph, nullptr, 0, &parameters);
    if (error == cudaSuccess) error = cudaGraphInstantiate(&entry.executable, entry.graph, 0);
    if (error != cudaSuccess) return error;
  }
  return measure(compute_major);
}

LaunchCache::Entry* LaunchCache::find(const LaunchShape& shape, const void* parameters, uint64_t bytes) {
  const auto fits = [&](const Entry& entry) {
    return same(entry.shape, shape) && entry.bytes == bytes && std::memcmp(entry.parameters, parameters, bytes) == 0;
  };
  if (fits(entries_[last_])) return &entries_[last_];
  for (Entry& entry : entries_) {
    if (fits(entry)) return &entry;
  }
  return nullptr;
}

int32_t LaunchCache::change(Entry& entry, const LaunchShape& shape, const void* parameters, uint64_t bytes) {
  void* arguments[] = {const_cast<void*>(parameters)};
  const cudaKernelNodeParams changed = node_parameters(shape, arguments);
  const cudaError_t error = cudaGraphExecKernelNodeSetParams(entry.executable, entry.node, &changed);
  entry.shape = error == cudaSuccess ? shape : LaunchShape{};
  entry.bytes = bytes;
  std::memcpy(entry.parameters, parameters, bytes);
  return error;
}

int32_t LaunchCache::launch(CUstream_st* stream, const LaunchShape& shape, const void* parameters, uint64_t bytes) {
  Entry* entry = find(shape, parameters, bytes);
  if (entry == nullptr) {
    entry = entries_;
    for (Entry& other : entries_) {
      if (other.used < entry->used) entry = &other;
    }
    const int32_t error = change(*entry, shape, parameters, bytes);
    if (error != 0) return error;
  }
  last_ = static_cast<int32_t>(entry - entries_);
  entry->used = ++launches_;
  return cudaGraphLaunch(entry->executable, stream);
}

int32_t make_launch_cache(int32_t compute_major, LaunchCache** cache) {
  *cache = new (std::nothrow) LaunchCache;
  if (*cache == nullptr) return cudaErrorMemoryAllocation;
  const int32_t error = (*cache)->fill(compute_major);
  if (error == 0) return 0;
  destroy_launch_cache(*cache);
  *cache = nullptr;
  return error;
}

void destroy_launch_cache(LaunchCache* cache) { delete cache; }

int32_t enqueue(const KernelWorld& world, CUstream_st* stream, const LaunchShape& shape, const void* parameters,
                uint64_t bytes) {
  const bool overlaps = world.compute_major >= kOverlapsFrom;
  const bool by_itself = overlaps && (shape.overlaps || (world.launches != nullptr && world.launches->host_keeps_up()));
  if (world.launches != nullptr && !by_itself) {
    cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
    const cudaError_t error = cudaStreamIsCapturing(stream, &capturing);
    if (error != cudaSuccess) return error;
    if (capturing == cudaStreamCaptureStatusNone) return world.launches->launch(stream, shape, parameters, bytes);
  }
  return launch_kernel(world.compute_major, stream, shape, parameters);
}

}  // namespace sparkgap::kernels
