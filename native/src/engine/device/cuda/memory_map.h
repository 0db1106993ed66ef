// Tells what an address is: a symmetric buffer's, other memory of the GPU, or the host's.
#ifndef SPARKGAP_ENGINE_DEVICE_CUDA_MEMORY_MAP_H
#define SPARKGAP_ENGINE_DEVICE_CUDA_MEMORY_MAP_H

#include <cstdint>
#include <vector>

#include "engine/device/device.h"

namespace sparkgap {

// A symmetric buffer as this process sees it.
struct SymmetricRange {
  const DeviceMemory* memory;
  uint64_t number;  // of the allocation, from 1, alike on all PEs
  uint64_t bytes;
  int32_t pes;
  bool reachable;  // every part can be addressed

  // Which PE's part `address` lies in, or -1.
  int32_t part_of(const void* address) const {
    const auto at = reinterpret_cast<uintptr_t>(address);
    for (int32_t pe = 0; pe < pes; ++pe) {
      const auto begin = reinterpret_cast<uintptr_t>(memory->part(pe));
      if (begin != 0 && at - begin < bytes) return pe;
    }
    return -1;
  }
};

class MemoryMap {
 public:
  explicit MemoryMap(int32_t device, int32_t pe) : device_(device), pe_(pe) {}

  void add(const SymmetricRange& range);
  void remove(const DeviceMemory* memory);

  // The symmetric buffer whose part of this PE holds the address, or nullptr. The last that was found is looked at
  // first.
  const SymmetricRange* find_own(const void* address) {
    const auto at = reinterpret_cast<uintptr_t>(address);
    for (size_t i = 0; i < own_.size(); ++i) {
      if (at - own_[i].begin >= own_[i].bytes) continue;
      if (i > 0) std::swap(own_[i], own_[0]);
      return &ranges_[own_[0].range];
    }
    return nullptr;
  }

  // Whether a kernel can use the address as it is. Throws for memory of another GPU. What CUDA has once called device
  // memory is not asked for again: memory that the caller has freed is the caller's mistake either way.
  bool is_device(const void* address) {
    const void*& recent = recent_[reinterpret_cast<uintptr_t>(address) / 256 % kRecent];
    if (recent == address || find_own(address) != nullptr) return true;
    if (!ask(address)) return false;
    recent = address;
    return true;
  }

 private:
  static constexpr size_t kRecent = 16;

  struct OwnPart {
    uintptr_t begin;
    uint64_t bytes;
    size_t range;
  };

  bool ask(const void* address) const;
  void index_own();

  int32_t device_;
  int32_t pe_;
  std::vector<SymmetricRange> ranges_;
  std::vector<OwnPart> own_;
  const void* recent_[kRecent] = {};
};

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_DEVICE_CUDA_MEMORY_MAP_H
