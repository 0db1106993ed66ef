// Keeps a process at one PE of GPU worlds.
#ifndef SPARKGAP_ENGINE_DEVICE_CUDA_ONLY_WORLD_H
#define SPARKGAP_ENGINE_DEVICE_CUDA_ONLY_WORLD_H

#include "provider/device/device_card.h"

namespace sparkgap {

// A process has one PE of GPU worlds at a time: NVSHMEM can have no more, and kernels of two worlds that wait on one
// GPU could keep each other from running. Throws, naming the other.
class OnlyWorld {
 public:
  explicit OnlyWorld(const DeviceWorldOptions& options);
  ~OnlyWorld();
  OnlyWorld(const OnlyWorld&) = delete;
  OnlyWorld& operator=(const OnlyWorld&) = delete;

  // The process can have no further GPU world.
  static void allow_no_more(const char* reason);
};

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_DEVICE_CUDA_ONLY_WORLD_H
