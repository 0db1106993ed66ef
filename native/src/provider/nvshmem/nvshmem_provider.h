// Provider nvshmem: symmetric memory is NVSHMEM's heap, reached through the addresses that nvshmem_ptr gives.
#ifndef SPARKGAP_PROVIDER_NVSHMEM_NVSHMEM_PROVIDER_H
#define SPARKGAP_PROVIDER_NVSHMEM_NVSHMEM_PROVIDER_H

#include <memory>
#include <string>

#include "provider/device/device_provider.h"
#include "provider/nvshmem/nvshmem_library.h"

namespace sparkgap {

class NvshmemProvider final : public DeviceProvider {
 public:
  explicit NvshmemProvider(const DeviceWorldOptions& options);

  const char* product() const override { return "NVSHMEM"; }
  const std::string& library_path() const override { return library_.path(); }
  int32_t library_version() const override { return library_.version(); }
  void make_unique_id(uint8_t* id) override;
  void start(const DeviceCard* cards) override;
  std::unique_ptr<ProviderMemory> make_memory(uint64_t bytes, DeviceOffer* offer) override;
  void enqueue_default(const CollectiveCall& call, cudaStream_t stream) override;
  void stop(bool together, const char* reason) override;

  NvshmemLibrary& library() const { return library_; }

 private:
  NvshmemLibrary& library_;
  bool initialised_ = false;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_NVSHMEM_NVSHMEM_PROVIDER_H
