// How host memory gets into a collective on the GPU and out of it.
//
//   small   host memory --memcpy--> pinned memory, which the kernel reads and writes over PCIe itself; no copy is
//   enqueued large,  host memory --cudaMemcpyAsync--> GPU memory of the staging, which grows to the largest call and
//   stays or not read by a kernel of ours
//
// The other PEs know nothing of this: a collective is the same whether a PE's memory is the GPU's or the host's. That
// is why a message is staged as a whole and not in pieces.
#ifndef SPARKGAP_ENGINE_DEVICE_CUDA_STAGING_H
#define SPARKGAP_ENGINE_DEVICE_CUDA_STAGING_H

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/growing_memory.h"
#include "cuda/pinned.h"
#include "description/call.h"
#include "engine/device/cuda/memory_map.h"

namespace sparkgap {

class Staging {
 public:
  Staging(int32_t pe, int32_t pes);
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Puts staging in the place of what is host memory in `call`, and enqueues copies of what the call reads. True if
  // there was any: then finish() is due once the call is done.
  bool stage(CollectiveCall& call, MemoryMap& memory, cudaStream_t stream);
  // Whether stage() needs no memory for it that is not there yet, as far as its arrays may be host memory.
  bool has_room(const CollectiveCall& call) const;
  // Copies what the call has written to the host memory that it was meant for.
  void finish(cudaStream_t stream);

 private:
  // What a call reads or writes of one side: bytes [first, first + bytes) from the address.
  struct Span {
    uint64_t first = 0;
    uint64_t bytes = 0;
  };

  Span read_by(const CollectiveCall& call) const;
  Span written_by(const CollectiveCall& call) const;
  Span span_of(const CollectiveCall& call, Array array) const;
  Span span_of(const uint64_t* counts, const uint64_t* offsets, int32_t type) const;
  void copy_out(void* to, const void* from, uint64_t bytes, cudaStream_t stream) const;

  int32_t pe_;
  int32_t pes_;
  Pinned pinned_;  // in, then out
  GrowingMemory in_;
  GrowingMemory out_;

  // The call that is to be finished.
  void* user_out_ = nullptr;
  const uint8_t* staged_out_ = nullptr;  // where the call's `out` begins, were all of it staged
  Span written_;
  bool out_is_pinned_ = false;
  CollectiveCall staged_;
};

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_DEVICE_CUDA_STAGING_H
