// What FusedProduct computes on a GPU: a matrix product whose inner dimension is spread over the PEs, so that each has
// a product of its own and the sum of them is what is wanted, scattered by rows or whole on every PE.
//
// Matrices are bfloat16, row after row. Each PE has left[rows][inner] and right[columns][inner], its part of the inner
// dimension of both, and computes product[rows][columns]. cuBLAS computes; what is here sends.
//
// A call enqueues its work on a stream, a cudaStream_t, and returns; every pointer but those to structs is to memory of
// that stream's GPU. 0 if all is well; otherwise product_problem() has a sentence about it. One thread at a time for a
// worker; others may have workers of their own.
#ifndef PRODUCT_KERNELS_H
#define PRODUCT_KERNELS_H

#include <stdint.h>

#include "sparkgap/device_world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Most slices that a PE's block of rows is made in.
#define PRODUCT_SLICES 8

// Bytes of the symmetric buffer of signals, which is zeroed when it is allocated.
#define PRODUCT_SIGNAL_BYTES 2048

// Loads cuBLAS from a file, or where `cublas` is empty by its names of versions 13 and 12, and makes what products on
// the GPU of `stream` need. The worker is its address, for product_close.
int product_open(const char* cublas, void* stream, int64_t* worker);

// When nothing that the worker has enqueued is under way, nor will be run again.
void product_close(int64_t worker);

// Makes the PE's left and right: multiples of 1/8 whose products and sums are exact in float.
int product_fill(void* stream, int pe, int pes, int rows, int columns, int inner, void* left, void* right);

// product = left x right', this PE's by itself.
int product_multiply(int64_t worker, void* stream, int rows, int columns, int inner, const void* left,
                     const void* right, void* product);

// Likewise, and its sum over PEs: rows [p, p + 1) * rows / pes in `out` of PE p, or, if `gathers` is not 0, all rows in
// `out` of every PE. PE p's rows are multiplied in `slices` slices, those of other PEs first. Each is sent as it is
// finished, by a copy engine beside the product of the next, and a signal of sparkgap/device.cuh follows it. PE p adds
// its own slices onto what the others have sent: their parts are rounded, and the sum of these, in PE order; whether
// its own is before it is added is up to cuBLAS. The same bits in every run.
//
// Symmetric buffers: `received` has the bytes of product, `out` those of what comes out, `signals` PRODUCT_SIGNAL_BYTES
// that nobody else uses. Others write into `out` from the call on, not before. Collective: PEs call it as often, in the
// same order, with the same numbers. It can be captured. `rows` is a multiple of pes * slices, `columns` of 8. A PE
// that does not come shows in the world's next call.
int product_fused(int64_t worker, void* stream, const sparkgap_device_world* world,
                  const sparkgap_device_buffer* received, const sparkgap_device_buffer* out,
                  const sparkgap_device_buffer* signals, int rows, int columns, int inner, int slices, int gathers,
                  const void* left, const void* right, void* product);

// Why the last call of this thread that failed did.
const char* product_problem(void);

#ifdef __cplusplus
}
#endif

#endif  // PRODUCT_KERNELS_H
