// GPU memory that grows to the largest use of it and stays.
#ifndef SPARKGAP_CUDA_GROWING_MEMORY_H
#define SPARKGAP_CUDA_GROWING_MEMORY_H

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/cuda_error.h"

namespace sparkgap {

class GrowingMemory {
 public:
  GrowingMemory() = default;
  ~GrowingMemory() { cudaFree(memory_); }
  GrowingMemory(const GrowingMemory&) = delete;
  GrowingMemory& operator=(const GrowingMemory&) = delete;

  // At least `bytes`, until the next call.
  void* reserve(uint64_t bytes) {
    if (bytes_ >= bytes) return memory_;
    // Freeing waits for kernels that may still read the old memory.
    cudaFree(memory_);
    memory_ = nullptr;
    bytes_ = 0;
    check_cuda(cudaMalloc(&memory_, bytes), "allocating GPU memory to stage a call's");
    bytes_ = bytes;
    return memory_;
  }

  uint64_t bytes() const { return bytes_; }

 private:
  void* memory_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace sparkgap

#endif  // SPARKGAP_CUDA_GROWING_MEMORY_H
