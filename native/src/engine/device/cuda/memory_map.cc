#include "engine/device/cuda/memory_map.h"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "cuda/cuda_error.h"

namespace sparkgap {

void MemoryMap::add(const SymmetricRange& range) {
  ranges_.push_back(range);
  index_own();
}

void MemoryMap::remove(const DeviceMemory* memory) {
  ranges_.erase(std::remove_if(ranges_.begin(), ranges_.end(),
                               [memory](const SymmetricRange& range) { return range.memory == memory; }),
                ranges_.end());
  std::fill(std::begin(recent_), std::end(recent_), nullptr);
  index_own();
}

void MemoryMap::index_own() {
  own_.clear();
  for (size_t i = 0; i < ranges_.size(); ++i) {
    own_.push_back({reinterpret_cast<uintptr_t>(ranges_[i].memory->part(pe_)), ranges_[i].bytes, i});
  }
}

bool MemoryMap::ask(const void* address) const {
  for (const SymmetricRange& range : ranges_) {
    if (range.part_of(address) >= 0) return true;
  }
  cudaPointerAttributes attributes;
  check_cuda(cudaPointerGetAttributes(&attributes, address), "asking what kind of memory an address is");
  switch (attributes.type) {
    case cudaMemoryTypeManaged:
      return true;
    case cudaMemoryTypeDevice:
      if (attributes.device == device_) return true;
      fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%p is memory of GPU %d, but the world is on GPU %d of this process",
           address, attributes.device, device_);
    default:
      return false;  // pinned or not: the call returns when it is done with it
  }
}

}  // namespace sparkgap
