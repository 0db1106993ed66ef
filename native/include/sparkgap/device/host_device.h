// Marks what both the host and kernels call.
#ifndef SPARKGAP_DEVICE_HOST_DEVICE_H
#define SPARKGAP_DEVICE_HOST_DEVICE_H

#ifdef __CUDACC__
#define SPARKGAP_HOST_DEVICE __host__ __device__
#else
#define SPARKGAP_HOST_DEVICE
#endif

#endif  // SPARKGAP_DEVICE_HOST_DEVICE_H
