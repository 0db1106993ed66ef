// Provider nvshmem: symmetric memory is NVSHMEM's heap, reached through the addresses that nvshmem_ptr gives.
#ifndef SPARKGAP_PROVIDER_NVSHMEM_NVSHMEM_WORLD_H
#define SPARKGAP_PROVIDER_NVSHMEM_NVSHMEM_WORLD_H

#include <memory>
#include <string>

#include "device/cuda_world.h"
#include "provider/nvshmem/nvshmem_library.h"

namespace sparkgap {

class NvshmemWorld final : public CudaWorld {
 public:
  NvshmemWorld(const DeviceWorldOptions& options, const sparkgap_device_info& info);

  void stop(bool together, const char* reason) override;

  NvshmemLibrary& library() const { return library_; }

 protected:
  const char* product() const override { return "NVSHMEM"; }
  const std::string& library_path() const override { return library_.path(); }
  int32_t library_version() const override { return library_.version(); }
  void make_unique_id(uint8_t* id) override;
  void start_provider(const DeviceCard* cards) override;
  std::unique_ptr<DeviceMemory> make_memory(uint64_t bytes, DeviceOffer* offer) override;
  void enqueue_default(const kernels::KernelCall& call) override;

 private:
  NvshmemLibrary& library_;
  bool initialised_ = false;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_NVSHMEM_NVSHMEM_WORLD_H
