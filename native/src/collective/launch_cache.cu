#include <cuda.h>
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
constexpr double kSmallCallUs = 3.8;

// Whoever makes a small call so soon after the last has not waited for that one, us.
constexpr double kAheadUs = 6;

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

// Through the runtime, which looks the kernel up each time.
int32_t launch_by_name(int64_t compute_major, CUstream_st* stream, const LaunchShape& shape, const void* parameters) {
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

int32_t LaunchCache::find_function(const void* kernel, CUfunc_st** function) {
  uint64_t at = reinterpret_cast<uintptr_t>(kernel) * 0x9e3779b97f4a7c15u >> 32;
  for (int32_t tried = 0; tried < kFunctions; ++tried, ++at) {
    Function& known = functions_[at % kFunctions];
    if (__builtin_expect(known.kernel == kernel, 1)) {
      *function = known.function;
      return cudaSuccess;
    }
    if (known.kernel != nullptr) continue;
    const cudaError_t error = cudaGetFuncBySymbol(function, kernel);
    if (error == cudaSuccess) known = {kernel, *function};
    return error;
  }
  return cudaGetFuncBySymbol(function, kernel);
}

int32_t LaunchCache::launch_by_itself(CUstream_st* stream, const LaunchShape& shape, const void* parameters) {
  if (driver_launch_ == nullptr) return launch_by_name(compute_major_, stream, shape, parameters);
  CUfunction function = nullptr;
  const int32_t error = find_function(shape.kernel, &function);
  if (error != 0) return error;
  CUlaunchAttribute overlap = {};
  overlap.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  overlap.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config = {};
  config.gridDimX = static_cast<unsigned>(shape.lanes);
  config.blockDimX = static_cast<unsigned>(shape.threads);
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shape.shared_bytes;
  config.hStream = stream;
  config.attrs = &overlap;
  config.numAttrs = compute_major_ >= kOverlapsFrom ? 1 : 0;
  void* arguments[] = {const_cast<void*>(parameters)};
  // The runtime's errors of launches have the driver's numbers.
  return static_cast<int32_t>(driver_launch_(&config, function, arguments, nullptr));
}

LaunchCache::~LaunchCache() {
  for (Entry& entry : entries_) {
    if (entry.executable != nullptr) cudaGraphExecDestroy(entry.executable);
    if (entry.graph != nullptr) cudaGraphDestroy(entry.graph);
  }
}

bool LaunchCache::is_caller_ahead() {
  const double now = now_us();
  const bool is_ahead = now - last_small_us_ < kAheadUs;
  last_small_us_ = now;
  return is_ahead && host_keeps_up_;
}

int32_t LaunchCache::measure() {
  if (compute_major_ < kOverlapsFrom) return cudaSuccess;
  cudaStream_t stream = nullptr;
  cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const LaunchShape shape = {reinterpret_cast<const void*>(nothing), 1, 1, true, 0};
  double batches[kBatches] = {};
  for (double& batch : batches) {
    const double start = now_us();
    for (int i = 0; i < kLaunches && error == cudaSuccess; ++i) {
      error = static_cast<cudaError_t>(launch_by_itself(stream, shape, nullptr));
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
  compute_major_ = compute_major;
  void* entry_point = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  if (cudaGetDriverEntryPointByVersion("cuLaunchKernelEx", &entry_point, 12000, cudaEnableDefault, &found) !=
      cudaSuccess) {
    cudaGetLastError();
  } else if (found == cudaDriverEntryPointSuccess) {
    driver_launch_ = reinterpret_cast<DriverLaunch>(entry_point);
  }
  const LaunchShape shape = {reinterpret_cast<const void*>(nothing), 1, 1, false, 0};
  const cudaKernelNodeParams parameters = node_parameters(shape, nullptr);
  for (Entry& entry : entries_) {
    cudaError_t error = cudaGraphCreate(&entry.graph, 0);
    if (error == cudaSuccess) error = cudaGraphAddKernelNode(&entry.node, entry.graph, nullptr, 0, &parameters);
    if (error == cudaSuccess) error = cudaGraphInstantiate(&entry.executable, entry.graph, 0);
    if (error != cudaSuccess) return error;
  }
  return measure();
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
  const bool by_itself =
      overlaps && (shape.overlaps || (world.launches != nullptr && world.launches->is_caller_ahead()));
  if (world.launches != nullptr && !by_itself) {
    cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
    const cudaError_t error = cudaStreamIsCapturing(stream, &capturing);
    if (error != cudaSuccess) return error;
    if (capturing == cudaStreamCaptureStatusNone) return world.launches->launch(stream, shape, parameters, bytes);
  }
  return world.launches != nullptr ? world.launches->launch_by_itself(stream, shape, parameters)
                                   : launch_by_name(world.compute_major, stream, shape, parameters);
}

}  // namespace sparkgap::kernels
