// What DecodeStep computes on a GPU: one token through many layers, of which each PE has a slice. A layer is a small
// matrix-vector product, of which each PE has the part of its inputs, and the sum of the parts over all PEs.
//
// The weights are [layers][width][DECODE_INPUTS] floats on each PE: those of a row for this PE's inputs. A call
// enqueues its work on a stream, a cudaStream_t, and returns; every pointer but that to the world is to memory of that
// stream's GPU. Any thread; nothing is kept. The status is a cudaError_t, 0 if all is well. Sums are made in a fixed
// order: every way of going through the layers gives the same bits.
#ifndef DECODE_KERNELS_H
#define DECODE_KERNELS_H

#include "sparkgap/device_world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Inputs of a row on each PE.
#define DECODE_INPUTS 32

// Loads the kernels, before one of them stays on the GPU.
int decode_load(void);

// Makes the weights of all layers.
int decode_weights(void* stream, int layers, int width, int pe, int pes, float* weights);

// One layer's product by itself, `layer_weights` being that layer's: this PE's part of sums[width] from state[width].
int decode_product(void* stream, int width, int pe, int pes, const float* layer_weights, const float* state,
                   float* sums);

// All layers by one kernel, which adds up the parts of all PEs after each, in itself (sparkgap/device.cuh): from
// `state` to `sums` and back in turn, so that of an even number of layers the result is in `state`. `exchanges` 0:
// without that, to see what it costs. A PE that does not come shows in the next call on the communicator.
int decode_layers(void* stream, const sparkgap_device_world* world, int layers, int width, const float* weights,
                  float* state, float* sums, int exchanges);

// CUDA's sentence about a status.
const char* decode_status_text(int status);

#ifdef __cplusplus
}
#endif

#endif  // DECODE_KERNELS_H
