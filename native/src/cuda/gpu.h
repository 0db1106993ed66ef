// The CUDA driver, and one GPU by its ordinal.
#ifndef SPARKGAP_CUDA_GPU_H
#define SPARKGAP_CUDA_GPU_H

#include "sparkgap/sparkgap.h"

namespace sparkgap {

// Throws UNAVAILABLE with what is missing unless a driver can be loaded and has devices. Makes no context.
void check_driver();

// Makes the GPU's context if this process has none on it, makes it this thread's, and fills *info. Throws.
void open_gpu(int32_t ordinal, sparkgap_device_info* info);

// Makes an opened GPU's context this thread's again: other libraries of the process may have set another.
class CurrentGpu {
 public:
  explicit CurrentGpu(int32_t ordinal);  // current on the constructing thread
  void use() const {
    void* now = nullptr;
    if (__builtin_expect(get_current_(&now) != 0 || now != context_, 0)) set();
  }

 private:
  void set() const;

  int32_t ordinal_;
  void* context_ = nullptr;
  int (*get_current_)(void**) = nullptr;  // cuCtxGetCurrent
};

}  // namespace sparkgap

#endif  // SPARKGAP_CUDA_GPU_H
