// One function for each collective and algorithm on the GPU: enqueues the kernel, as launch() in collective/kernels.h
// says.
#ifndef SPARKGAP_COLLECTIVE_LAUNCH_H
#define SPARKGAP_COLLECTIVE_LAUNCH_H

#include "collective/kernels.h"

namespace sparkgap::kernels {

using LaunchFunction = int32_t(const KernelWorld& world, CUstream_st* stream, const KernelCall& call);

#define SPARKGAP_DECLARED(collective, name, function) LaunchFunction launch_##function;
SPARKGAP_KERNEL_ALGORITHMS(SPARKGAP_DECLARED)
#undef SPARKGAP_DECLARED

// What all PEs have alike in a call, in 32 bits.
uint32_t signature_of(const KernelCall& call);

// Before the first of their launches, once a world: load the kernels, which a GPU may not do while another PE's kernel
// waits on it. Those of chunks also get the shared memory that bulk copies go through. A cudaError_t.
int32_t prepare_lines();
int32_t prepare_chunks();
int32_t prepare_program();
int32_t prepare_resident();

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_LAUNCH_H
