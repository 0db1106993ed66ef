// NVML, the part of NVIDIA's driver that tells about it and about how GPUs are linked. Looked up when it is needed, and
// never required: a container may have CUDA's driver without it.
#ifndef SPARKGAP_CUDA_NVML_H
#define SPARKGAP_CUDA_NVML_H

#include <cstdint>
#include <string>

#include "cuda/shared_library.h"

namespace sparkgap {

class Nvml {
 public:
  // The one of this process, started when first asked for, which takes some 10 ms. Any thread.
  static const Nvml& get();

  // Loads and starts it; throws nothing. `file`: a name that the loader knows, or a path.
  explicit Nvml(const char* file);

  // "580.95.05"; "" if NVML does not say.
  std::string driver_version() const;

  // How two GPUs reach each other, by their PCI addresses ("0000:19:00.0"): SPARKGAP_LINK_NVLINK or PCIE;
  // SPARKGAP_LINK_SHM if they have no way to each other, or NVML does not say.
  int32_t link(const char* pci, const char* other_pci) const;

  // Whether NVML says that the one reaches the other, but not by atomics.
  bool lacks_atomics(const char* pci, const char* other_pci) const;

 private:
  using Device = void*;  // nvmlDevice_t
  using DeviceByPci = int (*)(const char*, Device*);
  using P2pStatus = int (*)(Device, Device, int, int*);

  bool find(const char* pci, const char* other_pci, Device* device, Device* other) const;
  bool can(Device device, Device other, int ability) const;

  SharedLibrary library_;
  bool started_ = false;
  DeviceByPci device_by_pci_ = nullptr;
  P2pStatus p2p_status_ = nullptr;
};

}  // namespace sparkgap

#endif  // SPARKGAP_CUDA_NVML_H
