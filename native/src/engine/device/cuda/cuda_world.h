// One PE's GPU half of a world, whichever provider it has: the stream, the kernels, staging, one-sided calls, events.
// The provider adds how it starts and stops and where symmetric memory comes from.
#ifndef SPARKGAP_ENGINE_DEVICE_CUDA_CUDA_WORLD_H
#define SPARKGAP_ENGINE_DEVICE_CUDA_CUDA_WORLD_H

#include <cuda_runtime_api.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "collective/kernels.h"
#include "collective/program.h"
#include "cuda/gpu.h"
#include "cuda/pinned.h"
#include "engine/device/cuda/memory_map.h"
#include "engine/device/cuda/nccl_beside.h"
#include "engine/device/cuda/only_world.h"
#include "engine/device/cuda/resident.h"
#include "engine/device/cuda/staging.h"
#include "engine/device/device.h"
#include "provider/device/device_provider.h"

namespace sparkgap {

class CudaWorld final : public DeviceWorld {
 public:
  using MakeProvider = std::unique_ptr<DeviceProvider>(const DeviceWorldOptions& options);

  CudaWorld(const DeviceWorldOptions& options, const sparkgap_device_info& info, MakeProvider* make_provider);
  ~CudaWorld() override;

  sparkgap_status card(DeviceCard* card, Failure* failure) override;
  sparkgap_status start(const DeviceCard* cards, const DeviceControl& control, Failure* failure) override;
  uint64_t scratch_bytes() const override;
  sparkgap_status use_scratch(const DeviceMemory& scratch, const DeviceCard* near, Failure* failure) override;
  void find_links(const DeviceCard* near, LinkRow* row) const override;
  const sparkgap_device_world& view() const override { return kernel_world_; }
  void use(const Routes& routes) override { kernel_world_.routes = &routes; }
  int32_t lanes() const override { return kernel_world_.lanes; }
  bool fall_back() override { return provider_->fall_back(); }
  sparkgap_status check_room(uint64_t bytes, Failure* failure) override;
  sparkgap_status allocate(uint64_t bytes, DeviceMemory** memory, DeviceOffer* offer, Failure* failure) override;

  sparkgap_status collective(const CollectiveCall& call, bool* unfinished, Failure* failure) override;
  sparkgap_status rows(const RowsCall& call, void* const* parts, uint32_t signature, Failure* failure) override;
  sparkgap_status finish(Failure* failure) override;
  sparkgap_status copy(void* to, const void* from, uint64_t bytes, bool* unfinished, Failure* failure) override;
  sparkgap_status signal(int64_t* word, int64_t value, int32_t signal_op, Failure* failure) override;
  sparkgap_status wait_signal(const int64_t* word, int32_t comparison, int64_t value, Failure* failure) override;
  sparkgap_status fetch_add(int64_t* word, int64_t delta, Failure* failure) override;
  int64_t fetched() const override { return *results_.at<volatile int64_t>(kFetchedOffset); }

  sparkgap_status poll(int64_t microseconds, Failure* failure) override;
  sparkgap_status poll(Event& event, int64_t microseconds, Failure* failure) override;

  void* stream() const override { return stream_; }
  sparkgap_status set_stream(void* stream, Failure* failure) override;
  sparkgap_status make_event(Event** event, Failure* failure) override;
  sparkgap_status record(Event& event, Failure* failure) override;
  sparkgap_status wait(Event& event, Failure* failure) override;
  sparkgap_status elapsed_us(Event& start, Event& end, double* microseconds, Failure* failure) override;

  sparkgap_status begin_step(Failure* failure) override;
  sparkgap_status end_step(DeviceStep** step, Failure* failure) override;
  void drop_step() override;
  void set_place(const kernels::StepPlace& place) override { kernel_world_.place = place; }
  sparkgap_status launch(DeviceStep& step, Failure* failure) override;

  const kernels::WaitRecord& wait_record() const override { return *results_.at<kernels::WaitRecord>(); }
  sparkgap_status check_provider(Failure* failure) override {
    return guarded(failure, [&] {
      provider_->check();
      beside_.check();
    });
  }
  int64_t inside_provider_us() const override { return std::max(provider_->inside_us(), beside_.inside_us()); }
  void abort() override {
    beside_.abort();
    provider_->abort();
  }
  void prepare_beside() override { beside_.prepare(); }
  sparkgap_status load_beside(BesideCard* card, Text& told, Failure* failure) override;
  sparkgap_status start_beside(const uint8_t* id, Failure* failure) override {
    return guarded(failure, [&] { beside_.start(id); });
  }
  void drop_beside() override { beside_.abort(); }
  void stop_beside(bool together) override { beside_.stop(together); }
  bool end_resident() override { return resident_ == nullptr || resident_->end(); }
  void stop(bool together, const char* reason) override;
  void abandon(const char* reason) override;
  void describe(Text& text) const override;

 private:
  static constexpr uint64_t kFetchedOffset = 512;

  class Memory;
  class Step;

  void use_gpu() const { gpu_.use(); }
  bool make_program(int32_t step, size_t nodes, cudaGraph_t* graph, void** memory);
  void give_back(void* memory);
  void find_place(kernels::KernelCall& call);
  template <class Query>
  sparkgap_status poll_until(int64_t microseconds, Failure* failure, const Query& query);

  const OnlyWorld only_;
  const DeviceWorldOptions options_;
  const sparkgap_device_info info_;
  std::unique_ptr<DeviceProvider> provider_;
  NcclBeside beside_;
  Staging staging_;
  CurrentGpu gpu_;
  MemoryMap memory_map_;
  uint64_t allocations_ = 0;
  Pinned results_;  // what kernels write for the host: the wait record, then fetched()
  cudaStream_t own_stream_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t order_ = nullptr;  // between two streams
  kernels::KernelWorld kernel_world_ = {};
  std::unique_ptr<Resident> resident_;  // if there may be one
  kernels::Program program_;            // what the step that is being recorded would be as one kernel
  std::vector<void*> given_back_;       // of steps, while the stream was captured
  DeviceControl control_ = {};
  bool control_registered_ = false;
  int64_t provider_start_us_ = 0;  // what of the time to connect was not ours
};

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_DEVICE_CUDA_CUDA_WORLD_H
