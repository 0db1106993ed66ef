// Provider nccl: collectives by NCCL, and by our kernels wherever the PEs can address each other's memory.
//
// The communicator is non-blocking: every call of NCCL returns, and is asked until it is done, the world has been
// aborted or the deadline has passed. abort() ends what NCCL's kernels wait for.
//
// NCCL starts a thread for each such call, which takes longer than a small collective. Where it carries them, between
// nodes and beside NVSHMEM, they are therefore calls of a second communicator, which may block, split off the first one
// and sharing with it the word that ends waits. So nobody is inside a call of the first when abort() ends that, and
// with it what the second waits for; and whoever is inside a call of the second comes out before this object ends it,
// too.
//
// NCCL alone joins PEs of several nodes. They have symmetric memory each, which the PEs of one node reach by CUDA's
// IPC.
#ifndef SPARKGAP_PROVIDER_NCCL_NCCL_PROVIDER_H
#define SPARKGAP_PROVIDER_NCCL_NCCL_PROVIDER_H

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "cuda/growing_memory.h"
#include "provider/device/device_provider.h"
#include "provider/nccl/nccl_library.h"

namespace sparkgap {

// Where symmetric memory comes from; the first that all PEs can have (DeviceProvider::fall_back).
enum class NcclMemoryForm {
  kWindows,  // NCCL's symmetric windows, which tell the peers' addresses from NCCL 2.29 on
  kIpc,      // CUDA's own memory, mapped by the peers through its IPC handles
  kOwnOnly,  // PEs of a node that cannot reach each other: collectives only, by NCCL
};

// Before NCCL's first call in the process, most of which it reads once. Whoever sets a variable keeps it, but for
// multicast over NVLink, which stays off, since a process that dies in the middle of it can take the switch's state
// along.
void set_nccl_environment(const DeviceNetwork& network);

class NcclProvider final : public DeviceProvider {
 public:
  explicit NcclProvider(const DeviceWorldOptions& options);
  ~NcclProvider() override;

  const char* product() const override { return "NCCL"; }
  const std::string& library_path() const override { return library_.path(); }
  int32_t library_version() const override { return library_.version(); }
  bool reaches_by_rdma() const override;
  void make_unique_id(uint8_t* id) override;
  void start(const DeviceCard* cards) override;
  std::unique_ptr<ProviderMemory> make_memory(uint64_t bytes, DeviceOffer* offer) override;
  bool fall_back() override;
  void enqueue_default(const CollectiveCall& call, cudaStream_t stream) override;
  void check() override;
  int64_t inside_us() const override;
  void abort() override;
  void stop(bool together, const char* reason) override;

  // Makes a call of NCCL with the communicator and waits until NCCL has taken it. Throws; ABORTED once the world is.
  template <class Call>
  void call(const char* what, const Call& call) {
    if (working_ == nullptr) return settle(what, start_call(call));
    inside_since_us_.store(now_us(), std::memory_order_relaxed);
    const ncclResult_t result = aborted_.load(std::memory_order_acquire) ? ncclInvalidUsage : call(working_);
    inside_since_us_.store(0, std::memory_order_relaxed);
    if (__builtin_expect(result != ncclSuccess, 0)) settle(what, result);
  }

  const NcclFunctions& nccl() const { return library_.functions(); }

 private:
  template <class Call>
  ncclResult_t start_call(const Call& call) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return communicator_ == nullptr ? ncclInvalidUsage : call(communicator_);
  }
  void settle(const char* what, ncclResult_t result);
  void split();
  void send_blocks(const CollectiveCall& call, cudaStream_t stream);

  NcclLibrary library_;
  NcclMemoryForm form_;
  GrowingMemory spare_;
  GrowingMemory word_;  // what a barrier sums
  // Guards the communicator between this PE's calls, none of which lasts, and abort().
  std::mutex mutex_;
  ncclComm_t communicator_ = nullptr;
  ncclComm_t split_ = nullptr;    // where NCCL, while it splits, will put that one
  ncclComm_t working_ = nullptr;  // the one that may block, if there is one; for the PE's thread alone
  std::atomic<bool> aborted_{false};
  std::atomic<int64_t> inside_since_us_{0};
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_NCCL_NCCL_PROVIDER_H
