// What makes a GPU world: NVSHMEM or NCCL, and how it starts, ends, and gives memory that all PEs have. Everything else
// of a GPU world (streams, kernels, staging, events) is the same for all of them: engine/device/cuda.
//
// A provider belongs to one PE of one world. Its methods throw Failure, and the GPU's context is the calling thread's;
// only abort() may be called by any thread at any moment.
#ifndef SPARKGAP_PROVIDER_DEVICE_DEVICE_PROVIDER_H
#define SPARKGAP_PROVIDER_DEVICE_DEVICE_PROVIDER_H

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>

#include "description/call.h"
#include "provider/device/device_card.h"

namespace sparkgap {

// Memory that a provider has made on each PE.
class ProviderMemory {
 public:
  // Local: frees what can be freed without the others. No kernel of any PE may use the memory any more.
  virtual ~ProviderMemory() = default;

  // Fills part() for all PEs of the node from what each has offered, numbered as in the node. Local. A part that cannot
  // be addressed stays nullptr.
  virtual void map_parts(const DeviceOffer* offers) = 0;

  // Collective: every PE frees the same memory now; then close_parts, and once all have come there the destructor.
  virtual void free_together() {}

  // Local: gives up what map_parts has opened of the others' memory.
  virtual void close_parts() {}

  uint8_t* part(int32_t pe) const { return parts_[pe]; }

 protected:
  uint8_t* parts_[kernels::kMaxPes] = {};
};

class DeviceProvider {
 public:
  explicit DeviceProvider(const DeviceWorldOptions& options) : options_(options) {}
  virtual ~DeviceProvider() = default;
  DeviceProvider(const DeviceProvider&) = delete;
  DeviceProvider& operator=(const DeviceProvider&) = delete;

  virtual const char* product() const = 0;
  virtual const std::string& library_path() const = 0;
  virtual int32_t library_version() const = 0;  // major * 10000 + minor * 100 + patch

  // PE 0: what the others need to start with it.
  virtual void make_unique_id(uint8_t* id) = 0;
  // Whether PEs of other nodes are reached by RDMA, as far as one can tell before start.
  virtual bool reaches_by_rdma() const { return false; }
  // Collective; after watch().
  virtual void start(const DeviceCard* cards) = 0;
  // Collective: memory of at least `bytes`, zeroed, and what the others need to attach to it.
  virtual std::unique_ptr<ProviderMemory> make_memory(uint64_t bytes, DeviceOffer* offer) = 0;
  // After an allocation has failed on some PE: makes make_memory go another way, on all PEs alike. False: there is
  // none.
  virtual bool fall_back() { return false; }
  // The provider's own collective, on memory of the GPU.
  virtual void enqueue_default(const CollectiveCall& call, cudaStream_t stream) = 0;
  // Throws what has gone wrong since the last call, in what the provider does by itself.
  virtual void check() {}
  // How long the PE's thread has been in a call that may wait for other PEs and does not look at the deadline; 0 if it
  // is in none. Any thread.
  virtual int64_t inside_us() const { return 0; }
  // The world has been aborted: ends what does not look at its abort word.
  virtual void abort() {}
  // Nothing but the destructor follows. `together`: all other PEs do the same now. If not, a provider that can only end
  // together is left as it is, and `reason` is what later worlds are refused with. Throws nothing.
  virtual void stop(bool together, const char* reason) = 0;

  const DeviceWorldOptions& options() const { return options_; }
  // From now on a wait ends when *abort_state is not 0.
  void watch(const uint32_t* abort_state) { abort_state_ = abort_state; }
  // For waits: throws TIMED_OUT, or ABORTED once the world is. `what`: "was initialising".
  void check_deadline(int64_t start_us, const char* what) const;

 protected:
  // The world may have been aborted: waits from now on are those of its end, which have the deadline alone.
  void begin_stop() { stopping_ = true; }

  const DeviceWorldOptions options_;

 private:
  const uint32_t* abort_state_ = nullptr;
  bool stopping_ = false;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_DEVICE_DEVICE_PROVIDER_H
