// GPUs and libraries of this process. No world is needed, and any thread may call. See sparkgap.h.
#ifndef SPARKGAP_DEVICES_H
#define SPARKGAP_DEVICES_H

#include "sparkgap/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// The library is built with hidden visibility; what is declared here is what it shows.
#pragma GCC visibility push(default)

// A GPU, as sparkgap_device_open found it. Text ends with 0.
typedef struct sparkgap_device_info {
  int32_t ordinal;
  int32_t compute_major;
  int32_t compute_minor;
  int32_t multiprocessors;
  int64_t memory_bytes;
  char name[128];   // "NVIDIA H200"
  char uuid[48];    // "GPU-2d1b..." as nvidia-smi prints it
  char pci[32];     // "0000:19:00.0"
  char driver[32];  // "580.95.05", or "CUDA 13.0" where NVML does not say
} sparkgap_device_info;

// Loads libsparkgap_cuda.so, makes the GPU's CUDA context (the first time this takes most of a second) and fills *info.
// Otherwise UNAVAILABLE, or DEVICE_FAILED, and what was looked for, where, what was found and what to do is written to
// `message`, cut at message_bytes.
sparkgap_status sparkgap_device_open(int32_t ordinal, sparkgap_device_info* info, char* message,
                                     uint64_t message_bytes);

// Whether `provider` could serve in this process, without starting it: SPARKGAP_OK, and `message` names the library and
// version that was found; otherwise UNAVAILABLE, and `message` tells why. `library`: as in sparkgap_world_options.
sparkgap_status sparkgap_provider_probe(const char* provider, const char* library, char* message,
                                        uint64_t message_bytes);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif  // SPARKGAP_DEVICES_H
