// For kernels of the caller's, which exchange data themselves (sparkgap/device.cuh, docs/device.md). See sparkgap.h.
#ifndef SPARKGAP_KERNELS_H
#define SPARKGAP_KERNELS_H

#include "sparkgap/device_world.h"
#include "sparkgap/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// The library is built with hidden visibility; what is declared here is what it shows.
#pragma GCC visibility push(default)

// How long what the next two fill is, for callers without a C compiler.
#define SPARKGAP_DEVICE_WORLD_BYTES 184
#define SPARKGAP_DEVICE_BUFFER_BYTES 136

// Fills *device_world, which kernels of this PE take by value as long as the world lives; what goes wrong in them shows
// in later calls, as it does for kernels of ours. INVALID_ARGUMENT in a host world, UNAVAILABLE where PEs cannot
// address each other's GPU memory. Not collective.
sparkgap_status sparkgap_world_device(sparkgap_world* world, sparkgap_device_world* device_world);

// Where this PE's GPU sees all PEs' parts of the buffer, until it is freed.
sparkgap_status sparkgap_buffer_device(sparkgap_world* world, sparkgap_buffer* buffer,
                                       sparkgap_device_buffer* device_buffer);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif  // SPARKGAP_KERNELS_H
