// How host memory gets into a collective on the GPU and out of it.
//
//   small   host memory --memcpy--> pinned memory, which the kernel reads and writes over PCIe itself; no copy is
//   enqueued large,  host memory --cudaMemcpyAsync--> GPU memory of the staging, which grows to the largest call and
//   stays or not read by a kernel of ours
//
// The other PEs know nothing of this: a collective is the same whether a PE's memory is the GPU's or the host's. That
// is why a message is staged as a whole and not in pieces.
#ifndef SPARKGAP_DEVICE_STAGING_H
#define SPARKGAP_DEVICE_STAGING_H

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device/kernels.h"
#include "device/memory_map.h"
#include "device/pinned.h"

namespace sparkgap {

class Staging {
 public:
  Staging(int32_t pe, int32_t pes);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Puts staging in the place of what is host memory in `call`, and enqueues copies of what the call reads. True if
  // there was any: then finish() is due once the call is done.
  bool stage(kernels::KernelCall& call, MemoryMap& memory, cudaStream_t stream);
  // Copies what the call has written to the host memory that it was meant for.
  void finish(cudaStream_t stream);

  // GPU memory of at least `bytes` until the next use of the staging.
  void* device_memory(uint64_t bytes) { return reserve(&spare_, bytes); }

 private:
  struct Region {
    void* memory = nullptr;
    uint64_t bytes = 0;
  };
  // What a call reads or writes of one side: bytes [first, first + bytes) from the address.
  struct Extent {
    uint64_t first = 0;
    uint64_t bytes = 0;
  };

  Extent read_by(const kernels::KernelCall& call) const;
  Extent written_by(const kernels::KernelCall& call) const;
  Extent extent_of(const uint64_t* counts, const uint64_t* offsets, int32_t type) const;
  void* reserve(Region* region, uint64_t bytes);
  void copy_out(void* to, const void* from, uint64_t bytes, cudaStream_t stream) const;

  int32_t pe_;
  int32_t pes_;
  Pinned pinned_;  // in, then out
  Region in_;
  Region out_;
  Region spare_;

  // The call that is to be finished.
  void* user_out_ = nullptr;
  const uint8_t* staged_out_ = nullptr;  // where the call's `out` begins, were all of it staged
  Extent written_;
  bool out_is_pinned_ = false;
  kernels::KernelCall staged_;
};

}  // namespace sparkgap

#endif  // SPARKGAP_DEVICE_STAGING_H
