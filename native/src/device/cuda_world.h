// What all GPU worlds share, whichever provider they have: the stream, the kernels, staging, one-sided calls, events.
// A provider adds how it starts and stops and where symmetric memory comes from.
#ifndef SPARKGAP_DEVICE_CUDA_WORLD_H
#define SPARKGAP_DEVICE_CUDA_WORLD_H

#include <cuda_runtime_api.h>

#include <memory>
#include <optional>
#include <string>

#include "device/device.h"
#include "device/gpu.h"
#include "device/memory_map.h"
#include "device/pinned.h"
#include "device/staging.h"

namespace sparkgap {

// A process has one PE of GPU worlds at a time: NVSHMEM can have no more, and kernels of two worlds that wait on one
// GPU could keep each other from running. Throws, naming the other.
class OnlyWorld {
 public:
  explicit OnlyWorld(const DeviceWorldOptions& options);
  ~OnlyWorld();
  OnlyWorld(const OnlyWorld&) = delete;
  OnlyWorld& operator=(const OnlyWorld&) = delete;
};

class CudaWorld : public DeviceWorld {
 public:
  CudaWorld(const DeviceWorldOptions& options, const sparkgap_device_info& info);
  ~CudaWorld() override;

  sparkgap_status card(DeviceCard* card, Failure* failure) final;
  sparkgap_status start(const DeviceCard* cards, const DeviceControl& control, Failure* failure) final;
  uint64_t scratch_bytes() const final { return kernels::scratch_bytes(options_.pes); }
  sparkgap_status use_scratch(const DeviceMemory& scratch, const DeviceCard* cards, Failure* failure) final;
  void find_links(const DeviceCard* cards, LinkRow* row) const final;
  int32_t lanes() const final { return kernel_world_.lanes; }
  bool fall_back() override { return false; }
  sparkgap_status check_room(uint64_t bytes, Failure* failure) final;
  sparkgap_status allocate(uint64_t bytes, DeviceMemory** memory, DeviceOffer* offer, Failure* failure) final;

  sparkgap_status collective(kernels::KernelCall& call, bool* unfinished, Failure* failure) final;
  sparkgap_status finish(Failure* failure) final;
  sparkgap_status copy(void* to, const void* from, uint64_t bytes, bool* unfinished, Failure* failure) final;
  sparkgap_status signal(int64_t* word, int64_t value, int32_t signal_op, Failure* failure) final;
  sparkgap_status wait_signal(const int64_t* word, int32_t comparison, int64_t value, Failure* failure) final;
  sparkgap_status fetch_add(int64_t* word, int64_t delta, Failure* failure) final;
  int64_t fetched() const final { return *results_.at<volatile int64_t>(kFetchedOffset); }

  sparkgap_status poll(int64_t microseconds, Failure* failure) final;
  sparkgap_status poll(DeviceEvent& event, int64_t microseconds, Failure* failure) final;

  void* stream() const final { return stream_; }
  sparkgap_status set_stream(void* stream, Failure* failure) final;
  sparkgap_status make_event(DeviceEvent** event, Failure* failure) final;
  sparkgap_status record(DeviceEvent& event, Failure* failure) final;
  sparkgap_status wait(DeviceEvent& event, Failure* failure) final;
  sparkgap_status elapsed_us(DeviceEvent& start, DeviceEvent& end, double* microseconds, Failure* failure) final;

  const kernels::WaitRecord& wait_record() const final { return *results_.at<kernels::WaitRecord>(); }
  void abort() override {}
  void abandon(const char* reason) final;
  void describe(Text& text) const final;

  // For the providers' waits: throws TIMED_OUT, or ABORTED once the world is. `what`: "was initialising".
  void check_deadline(int64_t start_us, const char* what) const;
  // The world may have been aborted: its waits from now on are those of its end, which have the deadline alone.
  void begin_stop() { stopping_ = true; }
  void use_gpu() const { gpu_.use(); }
  const DeviceWorldOptions& options() const { return options_; }
  MemoryMap& memory_map() { return memory_map_; }

 protected:
  // What a provider does. All throw Failure; the GPU's context is this thread's.
  virtual const char* product() const = 0;
  virtual const std::string& library_path() const = 0;
  virtual int32_t library_version() const = 0;
  virtual void make_unique_id(uint8_t* id) = 0;
  virtual void start_provider(const DeviceCard* cards) = 0;
  // Memory of at least `bytes`, zeroed, and what the others need to attach to it.
  virtual std::unique_ptr<DeviceMemory> make_memory(uint64_t bytes, DeviceOffer* offer) = 0;
  // The provider's own collective.
  virtual void enqueue_default(const kernels::KernelCall& call) = 0;

  const OnlyWorld only_;
  const DeviceWorldOptions options_;
  cudaStream_t stream_ = nullptr;
  Staging staging_;

 private:
  static constexpr uint64_t kFetchedOffset = 512;

  void find_place(kernels::KernelCall& call);
  template <class Query>
  sparkgap_status poll_until(int64_t microseconds, Failure* failure, const Query& query);

  const sparkgap_device_info info_;
  CurrentGpu gpu_;
  MemoryMap memory_map_;
  uint64_t allocations_ = 0;
  Pinned results_;  // what kernels write for the host: the wait record, then fetched()
  cudaStream_t own_stream_ = nullptr;
  cudaEvent_t order_ = nullptr;  // between two streams
  kernels::KernelWorld kernel_world_ = {};
  DeviceControl control_ = {};
  bool control_registered_ = false;
  bool stopping_ = false;
  int64_t provider_start_us_ = 0;  // what of the time to connect was not ours
};

// Memory of a world of which parts may be mapped; its ranges are known to the world while it lives.
class MappedMemory : public DeviceMemory {
 public:
  MappedMemory(CudaWorld& world, uint64_t bytes);
  ~MappedMemory() override;
  sparkgap_status attach(const DeviceOffer* offers, Failure* failure) final;
  uint8_t* part(int32_t pe) const final { return parts_[pe]; }

 protected:
  // Fills parts_; throws. A part that cannot be addressed stays nullptr.
  virtual void map_parts(const DeviceOffer* offers) = 0;

  CudaWorld& world_;
  const uint64_t bytes_;
  uint8_t* parts_[kernels::kMaxPes] = {};

 private:
  friend class CudaWorld;
  uint64_t number_ = 0;
};

int64_t monotonic_us();

}  // namespace sparkgap

#endif  // SPARKGAP_DEVICE_CUDA_WORLD_H
