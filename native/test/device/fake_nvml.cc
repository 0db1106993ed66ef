// What links_test loads instead of NVML: a host with four GPUs. 1 and 2 are linked by NVLink, 3 reaches them over PCI
// Express, 4 reaches nobody.
#include <cstring>

namespace {

constexpr const char* kPci[] = {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0", "0000:04:00.0"};
constexpr int kNotFound = 6;
constexpr int kNotSupported = 3;
constexpr int kWrite = 1;
constexpr int kNvlink = 2;
constexpr int kAtomics = 3;

int devices[4];
bool started = false;

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int nvmlInit_v2() {
  started = true;
  return 0;
}

int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  std::strncpy(version, "580.95.05", length);
  return started ? 0 : 1;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* pci, void** device) {
  for (int i = 0; i < 4; ++i) {
    if (std::strcmp(pci, kPci[i]) != 0) continue;
    *device = &devices[i];
    return 0;
  }
  return kNotFound;
}

int nvmlDeviceGetP2PStatus(void* device, void* other, int ability, int* state) {
  const auto one = static_cast<int*>(device) - devices;
  const auto two = static_cast<int*>(other) - devices;
  const bool nvlink = one < 2 && two < 2;
  const bool any = one < 3 && two < 3;
  const bool by_nvlink = ability == kNvlink || ability == kAtomics;
  *state = (by_nvlink && nvlink) || (ability == kWrite && any) ? 0 : kNotSupported;
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
