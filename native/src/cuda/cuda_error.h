// How a failed CUDA call becomes a Failure, and how a Failure leaves libsparkgap_cuda.so.
#ifndef SPARKGAP_CUDA_CUDA_ERROR_H
#define SPARKGAP_CUDA_CUDA_ERROR_H

#include <cuda_runtime_api.h>

#include <exception>

#include "base/error.h"

namespace sparkgap {

// Throws. DEVICE_FAILED if the error stays with the process (an illegal address, say), OUT_OF_MEMORY, UNAVAILABLE if
// there is no usable driver or device; otherwise INTERNAL.
[[noreturn]] void fail_cuda(cudaError_t error, const char* what);

// `what`: what was tried, "making a stream".
inline void check_cuda(cudaError_t error, const char* what) {
  if (__builtin_expect(error != cudaSuccess, 0)) fail_cuda(error, what);
}

// Runs the body of a function of device.h: no exception leaves.
template <class Body>
sparkgap_status guarded(Failure* failure, const Body& body) noexcept {
  try {
    body();
    return SPARKGAP_OK;
  } catch (const Failure& thrown) {
    *failure = thrown;
  } catch (const std::exception& exception) {
    *failure = Failure();
    failure->status = SPARKGAP_INTERNAL;
    Text(failure->message, sizeof failure->message).add("unexpected: %s", exception.what());
  }
  return failure->status;
}

}  // namespace sparkgap

#endif  // SPARKGAP_CUDA_CUDA_ERROR_H
