// Copies by the copy engine of a multiprocessor (cp.async.bulk, from compute capability 9.0 on): one thread moves what
// otherwise takes hundreds, through shared memory, and has several copies on their way.
#ifndef SPARKGAP_PROTOCOL_BULK_CUH
#define SPARKGAP_PROTOCOL_BULK_CUH

#include <cstdint>

namespace sparkgap::kernels {

// Shared memory that a copy goes through: stages in turn.
constexpr uint32_t kBulkStages = 4;
constexpr uint32_t kBulkStageBytes = 16 << 10;
constexpr uint32_t kBulkBytes = kBulkStages * kBulkStageBytes;

// Addresses and sizes of bulk copies are multiples of this.
constexpr uint32_t kBulkAlignment = 16;

#if __CUDA_ARCH__ >= 900

__device__ __forceinline__ uint32_t shared_address(const void* address) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(address));
}

// The stages and the barriers that tell when they are full. One thread uses it.
class BulkPipe {
 public:
  __device__ BulkPipe(uint8_t* stages, uint64_t* barriers) : stages_(stages), barriers_(barriers) {}

  __device__ void start() const {
    for (uint32_t stage = 0; stage < kBulkStages; ++stage) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barriers_[stage])) : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }

  // Begins to fill the stage of copy `number` (0, 1, ...), whose last content must have been read.
  __device__ void load(uint32_t number, const uint8_t* from, uint32_t bytes) const {
    const uint32_t barrier = shared_address(&barriers_[number % kBulkStages]);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(stage(number)),
        "l"(from), "r"(bytes), "r"(barrier)
        : "memory");
  }

  __device__ void await_load(uint32_t number) const {
    const uint32_t barrier = shared_address(&barriers_[number % kBulkStages]);
    const uint32_t phase = number / kBulkStages % 2;
    uint32_t full = 0;
    while (full == 0) {
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                   : "=r"(full)
                   : "r"(barrier), "r"(phase)
                   : "memory");
    }
  }

  // Begins to empty it.
  __device__ void store(uint32_t number, uint8_t* to, uint32_t bytes) const {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(stage(number)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }

  // All stores but the last one have read their stages.
  __device__ void await_read() const { asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory"); }

  // All stores but the last kPending have arrived.
  template <int kPending>
  __device__ void await_stores() const {
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
  }

 private:
  __device__ uint32_t stage(uint32_t number) const {
    return shared_address(stages_ + number % kBulkStages * kBulkStageBytes);
  }

  uint8_t* stages_;
  uint64_t* barriers_;
};

#endif

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_PROTOCOL_BULK_CUH
