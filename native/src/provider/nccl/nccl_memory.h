// Symmetric memory of provider nccl, in each of its forms.
#ifndef SPARKGAP_PROVIDER_NCCL_NCCL_MEMORY_H
#define SPARKGAP_PROVIDER_NCCL_NCCL_MEMORY_H

#include <memory>

#include "provider/nccl/nccl_provider.h"

namespace sparkgap {

// All throw Failure and give zeroed memory. Collective where the form is kWindows.
std::unique_ptr<ProviderMemory> make_window_memory(NcclProvider& nccl, uint64_t bytes);
std::unique_ptr<ProviderMemory> make_ipc_memory(NcclProvider& nccl, uint64_t bytes, DeviceOffer* offer);
std::unique_ptr<ProviderMemory> make_own_memory(NcclProvider& nccl, uint64_t bytes);

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_NCCL_NCCL_MEMORY_H
