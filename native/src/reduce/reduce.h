// Reductions of whole arrays, vectorised for the CPU that this process runs on.
//
// All instruction set levels give the same bits: elements are combined one by one in the order of the inputs, and
// nothing is contracted or reassociated.
#ifndef SPARKGAP_REDUCE_REDUCE_H
#define SPARKGAP_REDUCE_REDUCE_H

#include <cstddef>
#include <cstdint>

namespace sparkgap {

// out[i] = op(ins[0][i], ..., ins[n-1][i]), applied in that order, for i in 0..count-1; n is at least 1. AVG divides by
// n; integers wrap and their AVG truncates towards zero. float16 and bfloat16 are accumulated in float32 over all
// inputs and rounded once, to nearest even. MIN and MAX give NaN if any input is NaN, and the later one of equal
// inputs. `out` may be exactly one of `ins` and must not overlap them otherwise. Pointers need the alignment of an
// element.
using ReduceFunction = void (*)(void* out, const void* const* ins, int n, size_t count);

// NULL for an unknown type or op.
ReduceFunction reduce_function(int32_t type, int32_t op);

// The same bits, but `out` bypasses the caches: for results that would not stay there. Stores are ordered before
// whatever the caller stores next.
ReduceFunction reduce_function_streaming(int32_t type, int32_t op);

// Moves bytes between ranges that do not overlap; no alignment is needed.
using CopyFunction = void (*)(void* dst, const void* src, size_t bytes);

// memcpy.
void copy_cached(void* dst, const void* src, size_t bytes);

// memcpy that bypasses the caches on the way to `dst`; ordered as above.
void copy_streaming(void* dst, const void* src, size_t bytes);

// The level that the kernels in use were compiled for, for example "x86-64-v4".
const char* kernel_isa();

}  // namespace sparkgap
#endif  // SPARKGAP_REDUCE_REDUCE_H
