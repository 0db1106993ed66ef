// Finds libsparkgap_cuda.so, which lies beside libsparkgap.so in builds with GPU code, and loads it when first asked.
#ifndef SPARKGAP_ENGINE_DEVICE_LIBRARY_H
#define SPARKGAP_ENGINE_DEVICE_LIBRARY_H

#include "engine/device/device.h"

namespace sparkgap {

// Any thread. Throws UNAVAILABLE with what was looked for and where, and what to do.
DeviceLibrary& device_library();

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_DEVICE_LIBRARY_H
