// Collectives and one-sided calls of a GPU world, all of which are enqueued, but for what the resident kernel takes.
#include "cuda/capture.h"
#include "engine/device/cuda/cuda_world.h"
#include "engine/device/cuda/one_sided.h"

namespace sparkgap {
namespace {

void check_launch(int32_t error) { check_cuda(static_cast<cudaError_t>(error), "launching a kernel"); }

}  // namespace

sparkgap_status CudaWorld::collective(const CollectiveCall& call, bool* unfinished, Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    if (resident_ != nullptr) {
      *unfinished = resident_->ring(call, memory_map_, stream_);
      if (*unfinished) return;
      resident_->expect_call(call, stream_);
      if (!staging_.has_room(call)) end_resident();
    }
    kernels::KernelCall staged;
    staged.shape = {};  // as the world's routes say
    static_cast<CollectiveCall&>(staged) = call;
    *unfinished = staging_.stage(staged, memory_map_, stream_);
    if (__builtin_expect(staged.algorithm == Algorithm::kDefault, 0)) {
      // The libraries do not say what was wrong, and what they have begun by then is not ours to mend.
      refuse_if_capture_is_broken(stream_);
      end_resident();
      DeviceProvider* const beside = beside_.get();
      return (beside == nullptr ? *provider_ : *beside).enqueue_default(staged, stream_);
    }
    find_place(staged);
    const int32_t error = kernels::launch(kernel_world_, stream_, staged);
    if (__builtin_expect(error == cudaErrorStreamCaptureInvalidated, 0)) {
      cudaGetLastError();
      refuse_broken_capture(cudaErrorStreamCaptureInvalidated);
    }
    check_launch(error);
    if (kernel_world_.place.step != 0) program_.add(kernel_world_, staged);
  });
}

void CudaWorld::find_place(kernels::KernelCall& call) {
  call.place = 0;
  const SymmetricRange* range = memory_map_.find_own(call.out);
  if (range == nullptr || !range->reachable) return;
  const uint64_t offset =
      static_cast<uint64_t>(static_cast<uint8_t*>(call.out) - range->memory->part(options_.near_pe));
  call.place = range->number << 40 | offset;
  for (int32_t pe = 0; pe < options_.near_pes; ++pe) call.peer_out[pe] = range->memory->part(pe) + offset;
}

sparkgap_status CudaWorld::finish(Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    if (resident_ == nullptr || !resident_->finish()) staging_.finish(stream_);
  });
}

sparkgap_status CudaWorld::copy(void* to, const void* from, uint64_t bytes, bool* unfinished, Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    *unfinished = !memory_map_.is_device(to) || !memory_map_.is_device(from);
    if (*unfinished) refuse_if_capturing(stream_, "a copy from or to host memory");
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "enqueuing a copy");
  });
}

sparkgap_status CudaWorld::signal(int64_t* word, int64_t value, int32_t signal_op, Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    if (resident_ != nullptr) resident_->expect_kernel(SPARKGAP_SIGNAL);
    check_launch(kernels::launch_signal(stream_, word, value, signal_op));
  });
}

sparkgap_status CudaWorld::wait_signal(const int64_t* word, int32_t comparison, int64_t value, Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    if (resident_ != nullptr) resident_->expect_kernel(SPARKGAP_WAIT_SIGNAL);
    check_launch(kernels::launch_wait_signal(kernel_world_, stream_, word, comparison, value,
                                             results_.at<int64_t>(kFetchedOffset)));
  });
}

sparkgap_status CudaWorld::fetch_add(int64_t* word, int64_t delta, Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    if (resident_ != nullptr) resident_->expect_kernel(SPARKGAP_FETCH_ADD);
    check_launch(kernels::launch_fetch_add(stream_, word, delta, results_.at<int64_t>(kFetchedOffset)));
  });
}

}  // namespace sparkgap
