// The host's end of the resident kernel (collective/resident.h): which calls it takes, how it is rung, when it goes.
//
// It is launched by the first call that it takes, and again by one that finds it gone. It goes by itself after an idle
// time and when the world is aborted; end() ends it before whatever would wait for a kernel that stays: allocating and
// freeing memory of the GPU, what a library does at its first call, the end of the world.
//
// Belongs to the world's thread.
#ifndef SPARKGAP_ENGINE_DEVICE_CUDA_RESIDENT_H
#define SPARKGAP_ENGINE_DEVICE_CUDA_RESIDENT_H

#include <cuda_runtime_api.h>

#include <bitset>
#include <cstddef>
#include <cstdint>

#include "collective/resident.h"
#include "cuda/pinned.h"
#include "engine/device/cuda/memory_map.h"

namespace sparkgap {

class Resident {
 public:
  // Of a world whose scratch is in use. `idle_ms`: how long the kernel stays after its last call, > 0.
  Resident(const kernels::KernelWorld& world, int32_t idle_ms);
  ~Resident();
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;

  // Makes the call, if it is one for the kernel: in packets, with arrays in host memory of kResidentBytes at most each,
  // while nothing of the world's is under way on `stream`. True: nothing else is to be done until is_answered(), and
  // then finish().
  bool ring(const CollectiveCall& call, MemoryMap& memory, cudaStream_t stream);
  bool is_rung() const { return rung_; }
  // Whether the answer is here, or will never come: then the wait record says why.
  bool is_answered();
  // Writes the results of the call that was rung. False if none was.
  bool finish();

  // In front of every collective that goes by `stream`.
  void expect_call(const CollectiveCall& call, cudaStream_t stream);
  // In front of every launch of a step.
  void expect_step() { others_ = true; }
  // In front of every kernel of a one-sided call, `operation`: the first of its kind is loaded, which waits for this
  // one.
  void expect_kernel(int32_t operation) { expect_kind(kCollectiveKinds + static_cast<size_t>(operation)); }

  // In front of every exchange of rows, which uses the scratch as collectives do.
  void expect_rows(int32_t operation, cudaStream_t stream);

  // Returns once the kernel is gone; false if it is not within the world's deadline.
  bool end();

  // How often it was launched.
  uint64_t launches() const { return launches_; }

 private:
  static constexpr size_t kCollectiveKinds = size_t{SPARKGAP_COLLECTIVES} * kAlgorithms * SPARKGAP_TYPES * SPARKGAP_OPS;

  void expect_kind(size_t kind);
  bool takes(const CollectiveCall& call, MemoryMap& memory, cudaStream_t stream) const;
  void write(const kernels::ResidentCommand& command, const void* in, uint64_t bytes);
  void launch_unless_there();
  bool has_left() const;
  bool take_answer();

  const kernels::KernelWorld& world_;
  const int32_t idle_ms_;
  Pinned memory_;
  kernels::ResidentBoard& board_;
  cudaStream_t stream_ = nullptr;
  uint64_t launches_ = 0;
  bool is_there_ = false;  // launched, and not known to have left
  uint32_t number_ = 0;    // of the last command
  bool others_ = true;     // calls of the world's may have been enqueued since
  bool captured_ = false;  // graphs of the caller's have calls of the world, and may be launched at any time

  std::bitset<kCollectiveKinds + SPARKGAP_OPERATIONS> loaded_;  // kinds of kernels that were launched before

  // The call that was rung.
  bool rung_ = false;
  void* out_ = nullptr;
  uint64_t out_bytes_ = 0;
  uint32_t answers_ = 0;  // packets that it has
  uint32_t taken_ = 0;    // of these, so far
  uint64_t results_[kernels::kResidentWords] = {};
};

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_DEVICE_CUDA_RESIDENT_H
