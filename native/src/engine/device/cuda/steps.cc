// Steps of a GPU world as CUDA graphs; of small collectives alone as a graph of one kernel (collective/program.h).
#include <utility>

#include "cuda/capture.h"
#include "engine/device/cuda/cuda_world.h"

namespace sparkgap {

class CudaWorld::Step final : public DeviceStep {
 public:
  // `memory` is what a program needs, or nullptr.
  Step(CudaWorld& world, cudaGraph_t graph, void* memory) : world_(world), memory_(memory) {
    world.end_resident();
    check_cuda(cudaGraphInstantiate(&executable_, graph, 0), "making a step launchable");
    // So that the first run is no slower than the others. Where there is nothing to upload, it says so.
    if (cudaGraphUpload(executable_, world.stream_) != cudaSuccess) cudaGetLastError();
  }
  // Of a launch that is under way, CUDA frees what it needs at its end.
  ~Step() override {
    world_.use_gpu();
    world_.end_resident();
    cudaGraphExecDestroy(executable_);
    if (memory_ != nullptr) world_.give_back(memory_);
  }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;
  cudaGraphExec_t get() const { return executable_; }

 private:
  CudaWorld& world_;
  void* const memory_;
  cudaGraphExec_t executable_ = nullptr;
};

// What a step of so many kernels is instead, if it has nothing but calls that a program can make. Where there is no
// memory for it, the step stays as it was captured.
bool CudaWorld::make_program(int32_t step, size_t nodes, cudaGraph_t* graph, void** memory) {
  if (nodes < 2 || program_.calls() != nodes) return false;
  kernels::KernelWorld world = kernel_world_;
  world.place = {step, 0};
  bool made = cudaMallocAsync(memory, program_.bytes(), stream_) == cudaSuccess;
  if (made) {
    made = program_.upload(*memory, stream_) == cudaSuccess &&
           cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed) == cudaSuccess;
    if (made) {
      made = program_.launch(world, stream_, *memory) == cudaSuccess;
      made = cudaStreamEndCapture(stream_, graph) == cudaSuccess && made;
    }
  }
  if (made) return true;
  cudaGetLastError();
  if (*graph != nullptr) cudaGraphDestroy(*graph);
  if (*memory != nullptr) give_back(*memory);
  *memory = nullptr;
  return false;
}

// What is enqueued may still use it.
void CudaWorld::give_back(void* memory) {
  Failure ignored;
  guarded(&ignored, [&] {
    if (is_capturing(stream_) || cudaFreeAsync(memory, stream_) != cudaSuccess) given_back_.push_back(memory);
  });
}

sparkgap_status CudaWorld::begin_step(Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    refuse_if_capturing(stream_, "the stream is in capture already: a step");
    program_.clear();
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
    const kernels::StepPlace place = std::exchange(kernel_world_.place, kernels::StepPlace{});
    use_gpu();
    cudaGraph_t graph = nullptr;
    const cudaError_t error = cudaStreamEndCapture(stream_, &graph);
    if (error != cudaSuccess) {
      cudaGetLastError();
      if (graph != nullptr) cudaGraphDestroy(graph);
      refuse_broken_capture(error);
    }
    Failure kept;
    const sparkgap_status made = guarded(&kept, [&] {
      size_t nodes = 0;
      check_cuda(cudaGraphGetNodes(graph, nullptr, &nodes), "counting what was recorded");
      cudaGraph_t program = nullptr;
      void* memory = nullptr;
      if (make_program(place.step, nodes, &program, &memory)) {
        cudaGraphDestroy(graph);
        graph = program;
      }
      try {
        *step = new Step(*this, graph, memory);
      } catch (...) {
        if (memory != nullptr) give_back(memory);
        throw;
      }
    });
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
    if (resident_ != nullptr) resident_->expect_step();
    const cudaError_t error = cudaGraphLaunch(static_cast<Step&>(step).get(), stream_);
    if (__builtin_expect(error == cudaSuccess, 1)) return;
    if (error == cudaErrorStreamCaptureUnsupported) {
      cudaGetLastError();
      refuse_if_capturing(stream_, "the run of a step");
    }
    fail_cuda(error, "launching a step");
  });
}

}  // namespace sparkgap
