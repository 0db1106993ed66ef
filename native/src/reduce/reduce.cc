#include "reduce/reduce.h"

#include <cstring>

#include "reduce/kernels.h"

namespace sparkgap {
namespace {

const Kernels& best_kernels() {
  for (int level = kKernelLevels - 1; level > 0; --level) {
    if (const Kernels* kernels = kernels_of_level(level)) return *kernels;
  }
  return kKernelsX86_64;
}

const Kernels& kernels() {
  static const Kernels& best = best_kernels();
  return best;
}

bool known(int32_t type, int32_t op) { return type >= 0 && type < SPARKGAP_TYPES && op >= 0 && op < SPARKGAP_OPS; }

}  // namespace

const Kernels* kernels_of_level(int level) {
  __builtin_cpu_init();
  switch (level) {
    case 0:
      return &kKernelsX86_64;
    case 1:
      return __builtin_cpu_supports("x86-64-v3") ? &kKernelsX86_64V3 : nullptr;
    case 2:
      return __builtin_cpu_supports("x86-64-v4") ? &kKernelsX86_64V4 : nullptr;
    default:
      return nullptr;
  }
}

ReduceFunction reduce_function(int32_t type, int32_t op) {
  return known(type, op) ? kernels().reduce[type][op] : nullptr;
}

ReduceFunction reduce_function_streaming(int32_t type, int32_t op) {
  return known(type, op) ? kernels().reduce_streaming[type][op] : nullptr;
}

void copy_cached(void* dst, const void* src, size_t bytes) { std::memcpy(dst, src, bytes); }

void copy_streaming(void* dst, const void* src, size_t bytes) { kernels().copy_streaming(dst, src, bytes); }

const char* kernel_isa() { return kernels().isa; }

}  // namespace sparkgap
