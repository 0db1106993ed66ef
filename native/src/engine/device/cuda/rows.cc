// Exchanges of rows in a GPU world.
#include "collective/rows_kernels.h"
#include "cuda/capture.h"
#include "engine/device/cuda/cuda_world.h"

namespace sparkgap {

sparkgap_status CudaWorld::rows(const RowsCall& call, void* const* parts, uint32_t signature, Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    for (const void* memory : {call.in, static_cast<const void*>(call.out), static_cast<const void*>(call.indices),
                               static_cast<const void*>(call.weights)}) {
      if (memory == nullptr || memory_map_.is_device(memory)) continue;
      fail(
          SPARKGAP_INVALID_ARGUMENT, kNoPe,
          "%p is host memory: in a GPU world rows, tables and weights are exchanged from the GPU's memory to the GPU's",
          memory);
    }
    if (resident_ != nullptr) resident_->expect_rows(call.operation, stream_);
    kernels::RowsLaunch launch = {call, signature, {}};
    for (int32_t pe = 0; pe < options_.near_pes; ++pe) launch.parts[pe] = static_cast<uint8_t*>(parts[pe]);
    const auto error = static_cast<cudaError_t>(kernels::launch_rows(kernel_world_, stream_, launch));
    if (error == cudaErrorStreamCaptureInvalidated) {
      cudaGetLastError();
      refuse_broken_capture(error);
    }
    check_cuda(error, "launching a kernel");
  });
}

}  // namespace sparkgap
