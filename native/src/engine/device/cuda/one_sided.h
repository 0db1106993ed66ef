// The kernels of one thread behind signal, waitSignal and fetchAdd. Each enqueues and returns a cudaError_t.
#ifndef SPARKGAP_ENGINE_DEVICE_CUDA_ONE_SIDED_H
#define SPARKGAP_ENGINE_DEVICE_CUDA_ONE_SIDED_H

#include <cstdint>

#include "collective/kernels.h"

namespace sparkgap::kernels {

// Everything that the stream has written before is visible to whoever sees the signal.
int32_t launch_signal(CUstream_st* stream, int64_t* word, int64_t value, int32_t signal_op);

// Polls `word` until it compares true with `value` and writes what it saw to `observed` (mapped host memory). Gives up
// like any kernel of the world, recorded as kWaitSignal.
int32_t launch_wait_signal(const KernelWorld& world, CUstream_st* stream, const int64_t* word, int32_t comparison,
                           int64_t value, int64_t* observed);

// Writes what was there before to `before` (mapped host memory).
int32_t launch_fetch_add(CUstream_st* stream, int64_t* word, int64_t delta, int64_t* before);

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_ENGINE_DEVICE_CUDA_ONE_SIDED_H
