// NCCL beside NVSHMEM: this PE's end of what engine/device/beside.h opens, and what the world's calls then go by.
//
// load and start are on the thread that opens it; abort and inside_us on any; the rest on the world's.
#ifndef SPARKGAP_ENGINE_DEVICE_CUDA_NCCL_BESIDE_H
#define SPARKGAP_ENGINE_DEVICE_CUDA_NCCL_BESIDE_H

#include <atomic>
#include <cstdint>
#include <memory>

#include "protocol/beside_record.h"
#include "provider/nccl/nccl_provider.h"

namespace sparkgap {

class NcclBeside {
 public:
  // `options`: of the world of NVSHMEM.
  explicit NcclBeside(const DeviceWorldOptions& options);

  // On the world's thread, before the others: what concerns the whole process.
  void prepare() const { set_nccl_environment(options_.network); }
  // `abort_state` is watched from here on; `uuid`: of this PE's GPU.
  void load(const uint32_t* abort_state, const char* uuid, BesideCard* card);
  void start(const uint8_t* id);

  // nullptr until it is loaded.
  NcclProvider* get() const { return provider_.load(std::memory_order_acquire); }
  void abort() {
    if (NcclProvider* provider = get()) provider->abort();
  }
  int64_t inside_us() const { return get() == nullptr ? 0 : get()->inside_us(); }
  void check() {
    if (started_.load(std::memory_order_acquire)) get()->check();
  }
  void stop(bool together) {
    if (NcclProvider* provider = get()) provider->stop(together, "");
  }

 private:
  const DeviceWorldOptions options_;  // its own
  std::unique_ptr<NcclProvider> owned_;
  std::atomic<NcclProvider*> provider_{nullptr};
  std::atomic<bool> started_{false};
};

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_DEVICE_CUDA_NCCL_BESIDE_H
