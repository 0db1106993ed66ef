// Rows that go to the PEs which a table names, as many to each as there are: dispatch and combine of a mixture of
// experts, and the general form. See sparkgap.h; docs/experts.md is the tour.
//
// Who gets how many rows is known to no host beforehand: PEs tell each other within the call. What they exchange
// through is a symmetric buffer of a fixed size, the same on all PEs, laid out by sparkgap_rows_layout.
//
// Experts are numbered over all PEs and dealt out in order: PE p has experts p * experts / pes up to, and without,
// (p + 1) * experts / pes. A PE may have none.
//
// On GPUs all memory is the GPU's: the calls are enqueued, and no host takes part. Worlds in which PEs cannot address
// each other's memory, as those on several hosts, have no such calls: they are UNAVAILABLE.
//
// All PEs make the same call with the same shape and buffer; how many rows each gives is its own affair. `in`,
// `indices`, `weights` and `out` are any memory of this process that does not overlap the buffer.
#ifndef SPARKGAP_ROWS_H
#define SPARKGAP_ROWS_H

#include "sparkgap/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// The library is built with hidden visibility; what is declared here is what it shows.
#pragma GCC visibility push(default)

#define SPARKGAP_MOST_EXPERTS 1024
#define SPARKGAP_MOST_TOP 64

// Elements of a float8 row that have a scale together.
#define SPARKGAP_FLOAT8_GROUP 128

typedef struct sparkgap_rows_shape {
  int32_t type;       // of a row's elements: any for exchange_rows; SPARKGAP_FLOAT32 for dispatch and combine, on
                      // GPUs SPARKGAP_BFLOAT16 as well
  int32_t experts;    // 1..SPARKGAP_MOST_EXPERTS; 0: rows go to PEs by exchange_rows, and nothing comes back
  int32_t top;        // experts that a row goes to, 1..SPARKGAP_MOST_TOP; 0 if there are no experts
  uint64_t width;     // elements of a row
  uint64_t rows;      // most that a PE gives in a call
  uint64_t capacity;  // most that an expert gets in a call, or a PE, from all PEs together
  int32_t float8;  // not 0, on GPUs, for experts: rows travel, and are received, as float8, a byte an element (e4m3, as
                   // in CUDA's __nv_fp8_e4m3) and for each SPARKGAP_FLOAT8_GROUP of them a scale, so that an element
                   // is its byte times that; `width` is a multiple of it. Results are of `type` still.
} sparkgap_rows_shape;

// Where things are in this PE's part of the buffer: offsets in bytes, multiples of 256. A PE that has experts has
// `local_experts` of them from `first_expert` on; in exchange_rows each PE counts as one.
typedef struct sparkgap_rows_layout {
  uint64_t bytes;     // of the buffer
  uint64_t counts;    // int32_t[local_experts]: rows that each has got
  uint64_t received;  // rows, [local_experts][capacity][width]: those of an expert one behind the other
  uint64_t scales;    // float[local_experts][capacity][width / SPARKGAP_FLOAT8_GROUP], of float8 rows alone
  uint64_t weights;   // float[local_experts][capacity]: what the router gave each of these
  uint64_t results;   // rows, [local_experts][capacity][width]: what the experts made of them, for combine
  int32_t first_expert;
  int32_t local_experts;
} sparkgap_rows_layout;

// Not collective. INVALID_ARGUMENT names what of the shape cannot be.
sparkgap_status sparkgap_rows_layout_of(sparkgap_world* world, const sparkgap_rows_shape* shape,
                                        sparkgap_rows_layout* layout);

// Row i of `in` goes to experts indices[i * top] ... indices[i * top + top - 1], -1 being none, with a weight for each.
// Each expert's rows lie in the order of PEs, then of rows, then of the table. Returns when this PE has got its own.
//
// in: rows * width, indices: rows * top, weights: rows * top or NULL, then no weights are sent.
//
// An index that names no expert is refused before anything is sent. Where an expert would get more rows than the
// capacity, all PEs are refused, with INVALID_ARGUMENT, and no row has been sent; the world is good for other calls.
// On GPUs, where the host does not look at tables, both are found by the kernels and end the world, as ABORTED,
// likewise with no row sent.
sparkgap_status sparkgap_dispatch(sparkgap_world* world, sparkgap_buffer* buffer, const sparkgap_rows_shape* shape,
                                  const void* in, const int32_t* indices, const float* weights, uint64_t rows);

// Row i of `out` is the sum over the experts that row i of the last dispatch went to, in the order of its table, of
// weight times what lies in `results` in that row's place; in float32, the same bits in every run. Experts of weight 0
// are left out; NULL for `weights` is 1 for all. When it returns, `results` may be written again. `results` stays as it
// is, so that several combines may follow a dispatch. A combine with another shape than that of the last rows that came
// through the buffer is refused, with INVALID_ARGUMENT.
//
// weights: rows * top, out: rows * width, rows: as in the last dispatch.
sparkgap_status sparkgap_combine(sparkgap_world* world, sparkgap_buffer* buffer, const sparkgap_rows_shape* shape,
                                 const float* weights, void* out, uint64_t rows);

// As dispatch, of a shape without experts: row i of `in` goes to PE destinations[i], or nowhere where that is -1.
sparkgap_status sparkgap_exchange_rows(sparkgap_world* world, sparkgap_buffer* buffer, const sparkgap_rows_shape* shape,
                                       const void* in, const int32_t* destinations, uint64_t rows);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif  // SPARKGAP_ROWS_H
