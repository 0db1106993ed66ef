// Kernels as somebody else would write them, who has the public headers and nothing else. Each function enqueues one on
// a cudaStream_t and returns a cudaError_t; pointers are to device memory, or to host memory that is mapped.
#ifndef SPARKGAP_TEST_GPU_STRANGER_H
#define SPARKGAP_TEST_GPU_STRANGER_H

#include <cstdint>

#include "sparkgap/device_world.h"

namespace stranger {

// Loads all kernels, which a GPU may not do while another PE's kernel waits on it.
int load();

// Where something goes wrong, counted up.
using Count = unsigned long long;

enum class Sum { kFloats, kBfloat16, kMostOfLongs, kMeanOfDoubles };

// An all-reduce of `count` elements by one block, or by a grid of `blocks` of which each has its share.
int reduce(const sparkgap_device_world& world, void* stream, Sum sum, const void* in, void* out, uint64_t count,
           int blocks);

// An all-gather of `count` floats.
int gather(const sparkgap_device_world& world, void* stream, const float* in, float* out, uint64_t count, int blocks);

// `rounds` rounds of four collectives of counts up to `most` with random delays: all that is wrong is counted. `x` has
// most floats, `y` that for every PE.
int mixture(const sparkgap_device_world& world, void* stream, float* x, float* y, uint32_t most, uint32_t rounds,
            int blocks, Count* wrong);

// Every PE puts `bytes` into its neighbour's `data`, with a signal, and adds to a word of PE 0; so often.
int ring(const sparkgap_device_world& world, void* stream, const sparkgap_device_buffer& data,
         const sparkgap_device_buffer& signals, uint32_t bytes, uint32_t rounds, Count* wrong);

// One all-reduce of `count` floats by a grid that begins with `first_channel`; each block that is told to end counts.
int tell(const sparkgap_device_world& world, void* stream, float* x, uint64_t count, int blocks, uint32_t first_channel,
         Count* told);

// Waits for a word to be `value`.
int await(const sparkgap_device_world& world, void* stream, const int64_t* word, int64_t value, Count* told);

}  // namespace stranger

#endif  // SPARKGAP_TEST_GPU_STRANGER_H
