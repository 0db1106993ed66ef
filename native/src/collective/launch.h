// One function for each kernel that belongs to one collective (those of collective/one_trip carry several): enqueues the kernel, as launch() in device/kernels.h says.
#ifndef SPARKGAP_COLLECTIVE_LAUNCH_H
#define SPARKGAP_COLLECTIVE_LAUNCH_H

#include "device/kernels.h"

namespace sparkgap::kernels {

int32_t launch_all_reduce_two_shot(const KernelWorld& world, CUstream_st* stream, const KernelCall& call);
int32_t launch_all_reduce_ring(const KernelWorld& world, CUstream_st* stream, const KernelCall& call);
int32_t launch_reduce_two_shot(const KernelWorld& world, CUstream_st* stream, const KernelCall& call);
int32_t launch_broadcast_chunked(const KernelWorld& world, CUstream_st* stream, const KernelCall& call);
int32_t launch_all_to_allv_chunked(const KernelWorld& world, CUstream_st* stream, const KernelCall& call);
int32_t launch_barrier_flags(const KernelWorld& world, CUstream_st* stream, const KernelCall& call);

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_LAUNCH_H
