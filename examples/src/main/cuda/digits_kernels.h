// What TrainDigits computes on a GPU: io.sparkgap.examples.Mlp with one hidden layer, and Momentum, as CUDA kernels.
//
// The weights lie as in Mlp: for each of the two layers a row of weights for each input, then the biases. The gradient
// and the velocity lie like the weights; with H neurons in the hidden layer each has (64 + 1) * H + (H + 1) * 10
// floats.
//
// A call enqueues its work on a stream, a cudaStream_t, and returns; every pointer is to memory of that stream's GPU.
// The GPU becomes the calling thread's current one. Any thread; nothing is kept from one call to the next. The status
// is a cudaError_t, 0 if all is well; what goes wrong after the call is told by whoever waits for the stream. Sums are
// made in a fixed order: the same input gives the same bits.
#ifndef DIGITS_KERNELS_H
#define DIGITS_KERNELS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Pixels of an image and digits to tell apart, as in io.sparkgap.examples.Digits.
#define DIGITS_PIXELS 64
#define DIGITS_CLASSES 10

// Sets `gradient` to the mean over a batch of `count` > 0 images, and `losses` to the cross-entropy of each.
//
//   hidden   neurons of the hidden layer
//   images   all that the PE has, [images][64] from 0 (white) to 1 (black)
//   labels   [images] which digit each is
//   order    [count] numbers of the batch's images
//   scratch  [count][2 * hidden + 10] floats, overwritten
//   losses   [count]
int digits_gradient(void* stream, int hidden, const float* weights, const float* images, const int32_t* labels,
                    const int32_t* order, int count, float* scratch, float* losses, float* gradient);

// Moves each of the `parameters` weights one step against the gradient, with the momentum of the steps before.
int digits_step(void* stream, int parameters, const float* gradient, float momentum, float rate, float* velocity,
                float* weights);

// Sets named[i] to the digit that the model takes image i for, for `count` > 0 images, [count][64].
int digits_classify(void* stream, int hidden, const float* weights, const float* images, int count, int32_t* named);

// Launches a kernel that does nothing and waits for the stream, `repetitions` times; *micros is what one took. This is
// the least that a call with a wait behind it can take on this host.
int digits_empty_kernel(void* stream, int repetitions, double* micros);

// CUDA's sentence about a status.
const char* digits_status_text(int status);

#ifdef __cplusplus
}
#endif

#endif  // DIGITS_KERNELS_H
