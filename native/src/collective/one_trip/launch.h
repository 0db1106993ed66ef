// The three ways to carry a collective of one trip: each enqueues the kernel, as launch() in device/kernels.h says.
#ifndef SPARKGAP_COLLECTIVE_ONE_TRIP_LAUNCH_H
#define SPARKGAP_COLLECTIVE_ONE_TRIP_LAUNCH_H

#include "device/kernels.h"

namespace sparkgap::kernels {

int32_t launch_packets(const KernelWorld& world, CUstream_st* stream, const KernelCall& call);
int32_t launch_lines(const KernelWorld& world, CUstream_st* stream, const KernelCall& call);
int32_t launch_chunks(const KernelWorld& world, CUstream_st* stream, const KernelCall& call);

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_ONE_TRIP_LAUNCH_H
