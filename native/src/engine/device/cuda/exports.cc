// The one function that libsparkgap_cuda.so shows, and what it gives.
#include <cstring>
#include <memory>
#include <string>

#include "base/version.h"
#include "cuda/cuda_error.h"
#include "cuda/gpu.h"
#include "engine/device/cuda/cuda_world.h"
#include "engine/device/device.h"
#include "provider/nccl/nccl_provider.h"
#include "provider/nvshmem/nvshmem_provider.h"

namespace sparkgap {
namespace {

template <class Provider>
std::unique_ptr<DeviceProvider> make(const DeviceWorldOptions& options) {
  return std::make_unique<Provider>(options);
}

void describe_library(Text& found, const char* product, int32_t version, const std::string& path) {
  found.add("%s %s, %s", product, version_text(version).c_str(), path.c_str());
}

void probe_nvshmem(const char* library, Text& found) {
  const NvshmemLibrary& nvshmem = NvshmemLibrary::get(library);
  describe_library(found, "NVSHMEM", nvshmem.version(), nvshmem.path());
}

void probe_nccl(const char* library, Text& found) {
  const NcclLibrary nccl(library);
  describe_library(found, "NCCL", nccl.version(), nccl.path());
}

struct ProviderOfGpus {
  const char* name;
  CudaWorld::MakeProvider* make;
  void (*probe)(const char* library, Text& found);
};

// Each provider of GPU worlds.
constexpr ProviderOfGpus kProviders[] = {
    {"nvshmem", make<NvshmemProvider>, probe_nvshmem},
    {"nccl", make<NcclProvider>, probe_nccl},
};

const ProviderOfGpus& kind_of(const char* name) {
  for (const ProviderOfGpus& provider : kProviders) {
    if (std::strcmp(provider.name, name) == 0) return provider;
  }
  fail(SPARKGAP_INTERNAL, kNoPe, "libsparkgap_cuda.so has no provider %s", name);
}

class Library final : public DeviceLibrary {
 public:
  int32_t interface_number() const override { return kDeviceInterface; }

  sparkgap_status open_device(int32_t ordinal, sparkgap_device_info* info, Failure* failure) override {
    return guarded(failure, [&] { open_gpu(ordinal, info); });
  }

  sparkgap_status probe(const char* provider, const char* library, Text& found, Failure* failure) override {
    return guarded(failure, [&] {
      check_driver();
      kind_of(provider).probe(library, found);
    });
  }

  sparkgap_status make_world(const DeviceWorldOptions& options, DeviceWorld** world, Failure* failure) override {
    return guarded(failure, [&] {
      sparkgap_device_info info = {};
      open_gpu(options.device, &info);
      *world = new CudaWorld(options, info, kind_of(options.provider).make);
    });
  }
};

}  // namespace
}  // namespace sparkgap

extern "C" __attribute__((visibility("default"))) sparkgap::DeviceLibrary* sparkgap_device_library() {
  static sparkgap::Library library;
  return &library;
}
