#include "cuda/nvml.h"

#include "sparkgap/sparkgap.h"

namespace sparkgap {
namespace {

// Of nvml.h, which CUDA's wheels do not have: return codes and states are 0 if all is well.
constexpr int kCanWrite = 1;        // NVML_P2P_CAPS_INDEX_WRITE
constexpr int kLinkedByNvlink = 2;  // NVML_P2P_CAPS_INDEX_NVLINK
constexpr int kHasAtomics = 3;      // NVML_P2P_CAPS_INDEX_ATOMICS

}  // namespace

const Nvml& Nvml::get() {
  static const Nvml nvml("libnvidia-ml.so.1");
  return nvml;
}

Nvml::Nvml(const char* file) : library_(SharedLibrary::of_loader(file)) {
  using Init = int (*)();
  const auto init = reinterpret_cast<Init>(library_.symbol("nvmlInit_v2"));
  started_ = init != nullptr && init() == 0;
  device_by_pci_ = reinterpret_cast<DeviceByPci>(library_.symbol("nvmlDeviceGetHandleByPciBusId_v2"));
  p2p_status_ = reinterpret_cast<P2pStatus>(library_.symbol("nvmlDeviceGetP2PStatus"));
}

std::string Nvml::driver_version() const {
  using Version = int (*)(char*, unsigned);
  const auto version = reinterpret_cast<Version>(library_.symbol("nvmlSystemGetDriverVersion"));
  char text[96] = "";
  return started_ && version != nullptr && version(text, sizeof text) == 0 ? text : "";
}

int32_t Nvml::link(const char* pci, const char* other_pci) const {
  Device device = nullptr;
  Device other = nullptr;
  if (!find(pci, other_pci, &device, &other)) return SPARKGAP_LINK_SHM;
  if (can(device, other, kLinkedByNvlink)) return SPARKGAP_LINK_NVLINK;
  return can(device, other, kCanWrite) ? SPARKGAP_LINK_PCIE : SPARKGAP_LINK_SHM;
}

bool Nvml::lacks_atomics(const char* pci, const char* other_pci) const {
  Device device = nullptr;
  Device other = nullptr;
  if (!find(pci, other_pci, &device, &other)) return false;
  return can(device, other, kCanWrite) && !can(device, other, kHasAtomics);
}

bool Nvml::find(const char* pci, const char* other_pci, Device* device, Device* other) const {
  if (!started_ || device_by_pci_ == nullptr || p2p_status_ == nullptr) return false;
  return device_by_pci_(pci, device) == 0 && device_by_pci_(other_pci, other) == 0;
}

bool Nvml::can(Device device, Device other, int ability) const {
  int state = -1;
  return p2p_status_(device, other, ability, &state) == 0 && state == 0;
}

}  // namespace sparkgap
