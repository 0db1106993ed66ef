// Host memory that a GPU of this process can read and write; gone with the object.
#ifndef SPARKGAP_CUDA_PINNED_H
#define SPARKGAP_CUDA_PINNED_H

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>

#include "cuda/cuda_error.h"

namespace sparkgap {

class Pinned {
 public:
  explicit Pinned(uint64_t bytes) {
    void* host = nullptr;
    check_cuda(cudaHostAlloc(&host, bytes, cudaHostAllocMapped), "allocating pinned host memory");
    host_ = static_cast<uint8_t*>(host);
    std::memset(host_, 0, bytes);
  }
  ~Pinned() { cudaFreeHost(host_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  // One address for host and GPU: all GPUs with code here have unified addresses.
  template <class Item>
  Item* at(uint64_t offset = 0) const {
    return reinterpret_cast<Item*>(host_ + offset);
  }

 private:
  uint8_t* host_;
};

}  // namespace sparkgap

#endif  // SPARKGAP_CUDA_PINNED_H
