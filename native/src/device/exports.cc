// The one function that libsparkgap_cuda.so shows, and what it gives.
#include <atomic>
#include <cstring>
#include <memory>

#include "device/cuda_error.h"
#include "device/device.h"
#include "device/gpu.h"
#include "device/shared_library.h"
#include "provider/nccl/nccl_world.h"
#include "provider/nvshmem/nvshmem_world.h"

namespace sparkgap {
namespace {

void describe_library(Text& found, const char* product, int32_t version, const std::string& path) {
  found.add("%s %d.%d.%d, %s", product, version / 10000, version / 100 % 100, version % 100, path.c_str());
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
      if (std::strcmp(provider, "nvshmem") == 0) {
        const NvshmemLibrary& nvshmem = NvshmemLibrary::get(library);
        describe_library(found, "NVSHMEM", nvshmem.version(), nvshmem.path());
      } else {
        const NcclLibrary nccl(library);
        describe_library(found, "NCCL", nccl.version(), nccl.path());
      }
    });
  }

  sparkgap_status make_world(const DeviceWorldOptions& options, DeviceWorld** world, Failure* failure) override {
    return guarded(failure, [&] {
      sparkgap_device_info info = {};
      open_gpu(options.device, &info);
      if (std::strcmp(options.provider, "nvshmem") == 0) {
        *world = new NvshmemWorld(options, info);
      } else {
        *world = new NcclWorld(options, info);
      }
    });
  }
};

}  // namespace
}  // namespace sparkgap

extern "C" __attribute__((visibility("default"))) sparkgap::DeviceLibrary* sparkgap_device_library() {
  static sparkgap::Library library;
  return &library;
}
