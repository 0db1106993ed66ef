// Symmetric memory of provider nccl, in each of its forms.
#ifndef SPARKGAP_PROVIDER_NCCL_NCCL_MEMORY_H
#define SPARKGAP_PROVIDER_NCCL_NCCL_MEMORY_H

#include <memory>

#include "provider/nccl/nccl_world.h"

namespace sparkgap {

// All throw Failure and give zeroed memory. Collective where the form is kWindows.
std::unique_ptr<DeviceMemory> make_window_memory(NcclWorld& world, uint64_t bytes);
std::unique_ptr<DeviceMemory> make_ipc_memory(NcclWorld& world, uint64_t bytes, DeviceOffer* offer);
std::unique_ptr<DeviceMemory> make_own_memory(NcclWorld& world, uint64_t bytes);

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_NCCL_NCCL_MEMORY_H
