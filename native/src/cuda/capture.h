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

}  // namespace sparkgap

#endif  // SPARKGAP_CUDA_CAPTURE_H
