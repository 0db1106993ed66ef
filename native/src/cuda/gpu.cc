#include "cuda/gpu.h"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "cuda/cuda_error.h"
#include "cuda/nvml.h"
#include "cuda/shared_library.h"

namespace sparkgap {
namespace {

constexpr const char* kDriver = "libcuda.so.1";

const SharedLibrary& driver() {
  static const SharedLibrary library = SharedLibrary::of_loader(kDriver);
  return library;
}

std::string ask_driver_version() {
  const std::string version = Nvml::get().driver_version();
  if (!version.empty()) return version;
  int cuda = 0;
  if (cudaDriverGetVersion(&cuda) != cudaSuccess) return "unknown";
  return "CUDA " + std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
}

const std::string& driver_version() {
  static const std::string version = ask_driver_version();
  return version;
}

void write_uuid(const cudaUUID_t& uuid, char* text, size_t bytes) {
  const auto byte = [&uuid](int i) { return static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])); };
  Text to(text, bytes);
  to.add("GPU-");
  for (int i = 0; i < 16; ++i) to.add(i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", byte(i));
}

}  // namespace

void check_driver() {
  if (!driver().is_loaded()) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe,
         "there is no NVIDIA driver: %s. On a host with GPUs install it; in a container, start that with the NVIDIA "
         "runtime (Docker: --gpus all, Kubernetes: resource nvidia.com/gpu)",
         driver().problem().c_str());
  }
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaErrorInsufficientDriver) {
    int version = 0;
    cudaGetLastError();
    cudaDriverGetVersion(&version);
    fail(SPARKGAP_UNAVAILABLE, kNoPe,
         "the NVIDIA driver (%s, for CUDA %d.%d) is too old for this build, which has CUDA "
         "%d.%d: update the driver",
         driver().path().c_str(), version / 1000, version % 1000 / 10, CUDART_VERSION / 1000,
         CUDART_VERSION % 1000 / 10);
  }
  if (error == cudaErrorNoDevice || (error == cudaSuccess && devices == 0)) {
    cudaGetLastError();
    fail(SPARKGAP_UNAVAILABLE, kNoPe,
         "the NVIDIA driver (%s) shows no GPU to this process: look at `nvidia-smi -L`, CUDA_VISIBLE_DEVICES and what "
         "the "
         "container may see",
         driver().path().c_str());
  }
  check_cuda(error, "asking the NVIDIA driver for its GPUs");
}

void open_gpu(int32_t ordinal, sparkgap_device_info* info) {
  check_driver();
  int devices = 0;
  check_cuda(cudaGetDeviceCount(&devices), "counting GPUs");
  if (ordinal < 0 || ordinal >= devices) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe,
         "there is no GPU %d: this process sees %d (0 to %d). The numbers are CUDA's, after CUDA_VISIBLE_DEVICES",
         ordinal, devices, devices - 1);
  }
  check_cuda(cudaSetDevice(ordinal), "making the GPU's context");
  check_cuda(cudaFree(nullptr), "making the GPU's context");
  cudaDeviceProp properties;
  check_cuda(cudaGetDeviceProperties(&properties, ordinal), "asking for the GPU's properties");
  info->ordinal = ordinal;
  info->compute_major = properties.major;
  info->compute_minor = properties.minor;
  info->multiprocessors = properties.multiProcessorCount;
  info->memory_bytes = static_cast<int64_t>(properties.totalGlobalMem);
  Text(info->name, sizeof info->name).add("%.120s", properties.name);
  write_uuid(properties.uuid, info->uuid, sizeof info->uuid);
  check_cuda(cudaDeviceGetPCIBusId(info->pci, sizeof info->pci, ordinal), "asking for the GPU's PCI address");
  Text(info->driver, sizeof info->driver).add("%.31s", driver_version().c_str());
  if (properties.major < 8) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe,
         "%s (%s) has compute capability %d.%d, but there is code for 8.0 and newer only: use a newer GPU, or "
         "spark.sparkgap.provider=host",
         info->name, info->pci, properties.major, properties.minor);
  }
}

CurrentGpu::CurrentGpu(int32_t ordinal) : ordinal_(ordinal) {
  driver().require("cuCtxGetCurrent", &get_current_);
  if (get_current_(&context_) != 0 || context_ == nullptr) {
    fail(SPARKGAP_INTERNAL, kNoPe, "GPU %d has no context on this thread, though it has just been opened", ordinal);
  }
}

void CurrentGpu::set() const { check_cuda(cudaSetDevice(ordinal_), "making the world's GPU this thread's"); }

}  // namespace sparkgap
