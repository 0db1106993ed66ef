// Steps of a GPU world as CUDA graphs.
#include "cuda/capture.h"
#include "engine/device/cuda/cuda_world.h"

namespace sparkgap {
namespace {

class CudaStep final : public DeviceStep {
 public:
  CudaStep(const CurrentGpu& gpu, cudaGraph_t graph, cudaStream_t stream) : gpu_(gpu) {
    check_cuda(cudaGraphInstantiate(&executable_, graph, 0), "making a step launchable");
    // So that the first run is no slower than the others. Where there is nothing to upload, it says so.
    if (cudaGraphUpload(executable_, stream) != cudaSuccess) cudaGetLastError();
  }
  // Of a launch that is under way, CUDA frees what it needs at its end.
  ~CudaStep() override {
    gpu_.use();
    cudaGraphExecDestroy(executable_);
  }
  CudaStep(const CudaStep&) = delete;
  CudaStep& operator=(const CudaStep&) = delete;
  cudaGraphExec_t get() const { return executable_; }

 private:
  const CurrentGpu& gpu_;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace

sparkgap_status CudaWorld::begin_step(Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    refuse_if_capturing(stream_, "the stream is in capture already: a step");
    // Relaxed: libraries that the caller uses meanwhile may allocate.
    const cudaError_t error = cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed);
    if (error == cudaSuccess) return;
    cudaGetLastError();
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "this stream cannot be captured: %s. CUDA's default stream never can",
         cudaGetErrorString(error));
  });
}

sparkgap_status CudaWorld::end_step(DeviceStep** step, Failure* failure) {
  return guarded(failure, [&] {
    kernel_world_.place = {};
    use_gpu();
    cudaGraph_t graph = nullptr;
    const cudaError_t error = cudaStreamEndCapture(stream_, &graph);
    if (error != cudaSuccess) {
      cudaGetLastError();
      if (graph != nullptr) cudaGraphDestroy(graph);
      refuse_broken_capture(error);
    }
    Failure kept;
    const sparkgap_status made = guarded(&kept, [&] { *step = new CudaStep(gpu_, graph, stream_); });
    cudaGraphDestroy(graph);
    if (made != SPARKGAP_OK) throw kept;
  });
}

void CudaWorld::drop_step() {
  Failure ignored;
  guarded(&ignored, [&] {
    kernel_world_.place = {};
    use_gpu();
    cudaGraph_t graph = nullptr;
    if (cudaStreamEndCapture(stream_, &graph) != cudaSuccess) cudaGetLastError();
    if (graph != nullptr) cudaGraphDestroy(graph);
  });
}

sparkgap_status CudaWorld::launch(DeviceStep& step, Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    const cudaError_t error = cudaGraphLaunch(static_cast<CudaStep&>(step).get(), stream_);
    if (__builtin_expect(error == cudaSuccess, 1)) return;
    if (error == cudaErrorStreamCaptureUnsupported) {
      cudaGetLastError();
      refuse_if_capturing(stream_, "the run of a step");
    }
    fail_cuda(error, "launching a step");
  });
}

}  // namespace sparkgap
