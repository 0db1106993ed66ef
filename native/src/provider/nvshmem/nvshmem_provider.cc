#include "provider/nvshmem/nvshmem_provider.h"

#include <cstring>

#include "cuda/cuda_error.h"

namespace sparkgap {
namespace {

// See sparkgap_allocate.
constexpr uint64_t kAlignment = 4096;
constexpr unsigned kInitWithUniqueId = 1 << 3;  // NVSHMEMX_INIT_WITH_UNIQUEID
constexpr int kIsInitialised = 2;  // NVSHMEM_STATUS_IS_INITIALIZED; below, init has failed whatever it said

class NvshmemMemory final : public ProviderMemory {
 public:
  NvshmemMemory(NvshmemProvider& nvshmem, void* address) : nvshmem_(nvshmem), address_(address) {}

  // Without the others only NVSHMEM's end can free the heap.
  ~NvshmemMemory() override = default;

  void free_together() override {
    const auto free = nvshmem_.library().functions().free;
    nvshmem_.library().run(nvshmem_, "was freeing memory", [free, address = address_] { free(address); });
  }

  void map_parts(const DeviceOffer*) override {
    struct Parts {
      void* of[kernels::kMaxPes] = {};
    };
    const auto parts = std::make_shared<Parts>();
    const auto ptr = nvshmem_.library().functions().ptr;
    const int32_t pes = nvshmem_.options().pes;
    nvshmem_.library().run(nvshmem_, "was mapping memory", [parts, ptr, pes, address = address_] {
      for (int32_t pe = 0; pe < pes; ++pe) parts->of[pe] = ptr(address, pe);
    });
    for (int32_t pe = 0; pe < pes; ++pe) {
      if (parts->of[pe] == nullptr) {
        fail(SPARKGAP_UNAVAILABLE, pe,
             "NVSHMEM (%s) gives no address for the memory of PE %d: their GPUs cannot reach each other directly. Look "
             "at "
             "`nvidia-smi topo -p2p w`, and at NVSHMEM_DISABLE_P2P; or use spark.sparkgap.provider=nccl",
             nvshmem_.library().path().c_str(), pe);
      }
      parts_[pe] = static_cast<uint8_t*>(parts->of[pe]);
    }
  }

 private:
  NvshmemProvider& nvshmem_;
  void* address_;
};

}  // namespace

NvshmemProvider::NvshmemProvider(const DeviceWorldOptions& options)
    : DeviceProvider(options), library_(NvshmemLibrary::get(options.library)) {}

void NvshmemProvider::make_unique_id(uint8_t* id) {
  static_assert(sizeof(nvshmemx_uniqueid_t) == sizeof(DeviceCard::unique_id), "a card must hold the id");
  nvshmemx_uniqueid_t made = NVSHMEMX_UNIQUEID_INITIALIZER;
  if (const int error = library_.functions().get_uniqueid(&made); error != 0) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe, "NVSHMEM (%s) gave no unique id (error %d); NVSHMEM_DEBUG=INFO tells more",
         library_.path().c_str(), error);
  }
  std::memcpy(id, &made, sizeof made);
}

void NvshmemProvider::start(const DeviceCard* cards) {
  struct Start {
    nvshmemx_uniqueid_t id;
    nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;  // keeps a pointer to the id
  };
  const auto start = std::make_shared<Start>();
  std::memcpy(&start->id, cards[0].unique_id, sizeof start->id);
  const NvshmemFunctions functions = library_.functions();
  const int32_t pe = options_.pe;
  const int32_t pes = options_.pes;
  const std::string path = library_.path();
  library_.run(*this, "was initialising", [start, functions, pe, pes, path] {
    const int set = functions.set_attr_uniqueid_args(pe, pes, &start->id, &start->attributes);
    const int error = set != 0 ? set : functions.init_attr(kInitWithUniqueId, &start->attributes);
    const int status = functions.init_status();
    if (error == 0 && status >= kIsInitialised) return;
    fail(
        SPARKGAP_UNAVAILABLE, kNoPe,
        "NVSHMEM (%s) did not initialise (error %d, status %d). NVSHMEM_DEBUG=INFO tells more; it needs /tmp to be one "
        "folder for all PEs of the host, and PIDs that differ",
        path.c_str(), error, status);
  });
  initialised_ = true;
}

std::unique_ptr<ProviderMemory> NvshmemProvider::make_memory(uint64_t bytes, DeviceOffer*) {
  const auto made = std::make_shared<void*>(nullptr);
  const auto align = library_.functions().align;
  const uint64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  library_.run(*this, "was allocating memory", [made, align, rounded] {
    *made = align(kAlignment, rounded);
    if (*made == nullptr) return;
    check_cuda(cudaMemset(*made, 0, rounded), "zeroing symmetric memory");
    check_cuda(cudaStreamSynchronize(cudaStreamLegacy), "zeroing symmetric memory");
  });
  if (*made == nullptr) {
    fail(SPARKGAP_OUT_OF_MEMORY, kNoPe, "NVSHMEM (%s) has no room for %llu bytes on each PE in its symmetric heap",
         library_.path().c_str(), static_cast<unsigned long long>(bytes));
  }
  return std::make_unique<NvshmemMemory>(*this, *made);
}

void NvshmemProvider::enqueue_default(const CollectiveCall&, cudaStream_t) {
  fail(SPARKGAP_INTERNAL, kNoPe, "provider nvshmem has no collectives but ours");
}

void NvshmemProvider::stop(bool together, const char* reason) {
  if (!initialised_) return;
  if (!together) return library_.give_up(reason);
  begin_stop();
  Failure failure;
  const auto finalize = library_.functions().finalize;
  // What cannot be ended has been given up by run().
  guarded(&failure, [&] { library_.run(*this, "was ending", [finalize] { finalize(); }); });
}

}  // namespace sparkgap
