#include "provider/nccl/nccl_memory.h"

#include <cstring>

#include "cuda/cuda_error.h"

namespace sparkgap {
namespace {

// CUDA cuts small allocations out of common blocks, and an IPC handle is good for the whole block.
constexpr uint64_t kBlockBytes = 2 << 20;

uint64_t round_up(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

void zero(void* address, uint64_t bytes) {
  check_cuda(cudaMemset(address, 0, bytes), "zeroing symmetric memory");
  check_cuda(cudaStreamSynchronize(cudaStreamLegacy), "zeroing symmetric memory");
}

class WindowMemory final : public ProviderMemory {
 public:
  WindowMemory(NcclProvider& nccl, uint64_t bytes) : nccl_(nccl), bytes_(bytes) {}

  // Apart from the constructor, so that the destructor frees what a failure leaves.
  void make() {
    const uint64_t rounded = round_up(bytes_, NCCL_WIN_REQUIRED_ALIGNMENT);
    const ncclResult_t result = nccl_.nccl().memory_alloc(&own_, rounded);
    if (result != ncclSuccess || own_ == nullptr) {
      fail(SPARKGAP_OUT_OF_MEMORY, kNoPe, "ncclMemAlloc of %llu bytes failed: %s",
           static_cast<unsigned long long>(rounded), nccl_.nccl().error_string(result));
    }
    zero(own_, rounded);
    nccl_.call("was registering a symmetric window", [&](ncclComm_t communicator) {
      return nccl_.nccl().window_register(communicator, own_, rounded, &window_, NCCL_WIN_COLL_SYMMETRIC);
    });
    // Success with no window is NCCL's way to say that it has none here.
    if (window_ == nullptr) fail(SPARKGAP_UNAVAILABLE, kNoPe, "NCCL has no symmetric windows between these GPUs");
  }

  ~WindowMemory() override {
    Failure ignored;
    guarded(&ignored, [&] {
      if (window_ == nullptr) return;
      nccl_.call("was giving back a symmetric window",
                 [&](ncclComm_t communicator) { return nccl_.nccl().window_deregister(communicator, window_); });
    });
    if (own_ != nullptr) nccl_.nccl().memory_free(own_);
  }

  void map_parts(const DeviceOffer*) override {
    const int32_t pes = nccl_.options().near_pes;  // which is all, with windows
    for (int32_t pe = 0; pe < pes; ++pe) {
      void* address = nullptr;
      const ncclResult_t result = nccl_.nccl().peer_pointer(window_, 0, pe, &address);
      if (result != ncclSuccess || address == nullptr) {
        fail(SPARKGAP_UNAVAILABLE, pe, "NCCL gives no address for the window of PE %d: %s", pe,
             nccl_.nccl().error_string(result));
      }
      parts_[pe] = static_cast<uint8_t*>(address);
    }
  }

 private:
  NcclProvider& nccl_;
  const uint64_t bytes_;
  void* own_ = nullptr;
  ncclWindow_t window_ = nullptr;
};

class CudaMemory : public ProviderMemory {
 public:
  CudaMemory(NcclProvider& nccl, uint64_t bytes) : pe_(nccl.options().near_pe) {
    const uint64_t rounded = round_up(bytes, kBlockBytes);
    check_cuda(cudaMalloc(&own_, rounded), "allocating symmetric memory");
    zero(own_, rounded);
  }
  ~CudaMemory() override { cudaFree(own_); }

  void map_parts(const DeviceOffer*) override { parts_[pe_] = static_cast<uint8_t*>(own_); }

 protected:
  const int32_t pe_;
  void* own_ = nullptr;
};

class IpcMemory final : public CudaMemory {
 public:
  IpcMemory(NcclProvider& nccl, uint64_t bytes, DeviceOffer* offer)
      : CudaMemory(nccl, bytes), pes_(nccl.options().near_pes) {
    static_assert(sizeof(cudaIpcMemHandle_t) <= sizeof offer->handle, "an offer must hold the handle");
    cudaIpcMemHandle_t handle;
    check_cuda(cudaIpcGetMemHandle(&handle, own_), "exporting GPU memory to other processes");
    std::memcpy(offer->handle, &handle, sizeof handle);
  }
  ~IpcMemory() override { close(); }

  void close_parts() override { close(); }

  void map_parts(const DeviceOffer* offers) override {
    CudaMemory::map_parts(offers);
    for (int32_t pe = 0; pe < pes_; ++pe) {
      if (pe == pe_) continue;
      cudaIpcMemHandle_t handle;
      std::memcpy(&handle, offers[pe].handle, sizeof handle);
      void* address = nullptr;
      check_cuda(cudaIpcOpenMemHandle(&address, handle, cudaIpcMemLazyEnablePeerAccess),
                 "mapping the GPU memory of another PE (do their GPUs see each other? nvidia-smi topo -p2p w)");
      parts_[pe] = static_cast<uint8_t*>(address);
    }
  }

 private:
  void close() {
    for (int32_t pe = 0; pe < pes_; ++pe) {
      if (pe == pe_ || parts_[pe] == nullptr) continue;
      cudaIpcCloseMemHandle(parts_[pe]);
      parts_[pe] = nullptr;
    }
  }

  const int32_t pes_;
};

}  // namespace

std::unique_ptr<ProviderMemory> make_window_memory(NcclProvider& nccl, uint64_t bytes) {
  auto memory = std::make_unique<WindowMemory>(nccl, bytes);
  memory->make();
  return memory;
}

std::unique_ptr<ProviderMemory> make_ipc_memory(NcclProvider& nccl, uint64_t bytes, DeviceOffer* offer) {
  return std::make_unique<IpcMemory>(nccl, bytes, offer);
}

std::unique_ptr<ProviderMemory> make_own_memory(NcclProvider& nccl, uint64_t bytes) {
  return std::make_unique<CudaMemory>(nccl, bytes);
}

}  // namespace sparkgap
