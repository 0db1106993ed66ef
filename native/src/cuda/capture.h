// Streams in capture, be it for a step or for a graph of the caller's: what is enqueued on one runs later, and again
// and again.
#ifndef SPARKGAP_CUDA_CAPTURE_H
#define SPARKGAP_CUDA_CAPTURE_H

#include <cuda_runtime_api.h>

#include "cuda/cuda_error.h"

namespace sparkgap {

inline bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_cuda(cudaStreamIsCapturing(stream, &status), "asking whether the stream is captured");
  return status != cudaStreamCaptureStatusNone;
}

// `what` is needed at the time of the call itself: throws INVALID_ARGUMENT if the stream is captured.
inline void refuse_if_capturing(cudaStream_t stream, const char* what) {
  if (!is_capturing(stream)) return;
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%s cannot be recorded in a step or a graph", what);
}

// For whatever the caller did to a stream in capture that ended the capture.
[[noreturn]] inline void refuse_broken_capture(cudaError_t error) {
  fail(
      SPARKGAP_INVALID_ARGUMENT, kNoPe,
      "something was done while the step was recorded that a stream in capture does not bear (a wait for the stream, a "
      "copy through pageable memory, another stream that was not joined): CUDA error %d, %s",
      static_cast<int>(error), cudaGetErrorString(error));
}

inline void refuse_if_capture_is_broken(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_cuda(cudaStreamIsCapturing(stream, &status), "asking whether the stream is captured");
  if (status == cudaStreamCaptureStatusInvalidated) refuse_broken_capture(cudaErrorStreamCaptureInvalidated);
}

}  // namespace sparkgap

#endif  // SPARKGAP_CUDA_CAPTURE_H
