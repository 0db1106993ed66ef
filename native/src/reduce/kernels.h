// The kernels of each instruction set level. Only reduce.cc and the test of the kernels choose between them.
#ifndef SPARKGAP_REDUCE_KERNELS_H
#define SPARKGAP_REDUCE_KERNELS_H

#include "reduce/reduce.h"
#include "sparkgap/sparkgap.h"

namespace sparkgap {

struct Kernels {
  const char* isa;
  ReduceFunction reduce[SPARKGAP_TYPES][SPARKGAP_OPS];
  ReduceFunction reduce_streaming[SPARKGAP_TYPES][SPARKGAP_OPS];
  void (*copy_streaming)(void* dst, const void* src, size_t bytes);
};

// Each is kernels.cc, compiled with -march of that name.
extern const Kernels kKernelsX86_64;
extern const Kernels kKernelsX86_64V3;
extern const Kernels kKernelsX86_64V4;

constexpr int kKernelLevels = 3;

// Level 0 is the baseline, 1 is v3, 2 is v4. NULL if this CPU cannot run it.
const Kernels* kernels_of_level(int level);

}  // namespace sparkgap
#endif  // SPARKGAP_REDUCE_KERNELS_H
