// PEs for the kernel tests and benchmarks: processes that share GPU memory by CUDA IPC, and nothing of the library but
// the kernels. With fewer GPUs than PEs, several PEs are on one GPU; then MPS has to run.
#ifndef SPARKGAP_TEST_GPU_GPU_PES_H
#define SPARKGAP_TEST_GPU_GPU_PES_H

#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "collective/kernels.h"
#include "select/routes.h"
#include "support/check.h"
#include "support/pes.h"

namespace sparkgap::test {

// Throws a Failure with CUDA's sentence unless status is 0.
void cuda_ok(int status, const char* what);

// What the processes of one run share.
struct Meeting {
  std::atomic<int> arrived;
  std::atomic<int> round;
  std::atomic<int> failed;
  cudaIpcMemHandle_t handles[kernels::kMaxPes];
  uint64_t values[kernels::kMaxPes];
  char failures[kernels::kMaxPes][1000];  // of each PE; "" where there was none
};

// Memory of every PE that each sees; as long as the largest of the world's arrays.
class PeerMemory {
 public:
  uint8_t* own() const { return parts[pe]; }
  int32_t pe = 0;
  uint8_t* parts[kernels::kMaxPes] = {};
};

// One PE: its GPU, its stream, and its view of a world of kernels.
class GpuPe {
 public:
  GpuPe(int pe, int pes, Meeting& meeting, void* host_words);
  GpuPe(const GpuPe&) = delete;
  GpuPe& operator=(const GpuPe&) = delete;

  int pe() const { return world.pe; }
  int pes() const { return world.pes; }
  int gpus() const { return gpus_; }

  // All PEs come here before any goes on.
  void meet();
  // The values of all PEs, in PE order; collective.
  std::vector<uint64_t> exchange(uint64_t value);
  // Zeroed memory of `bytes` on every PE; collective. Lives as long as the process.
  PeerMemory allocate(uint64_t bytes);

  // How many lanes the kernels have from here on; the same on all PEs.
  void set_lanes(int32_t lanes);

  void launch(const kernels::KernelCall& call);
  void synchronize();
  // Throws unless every wait so far has ended well.
  void expect_no_failure(const char* what) const;
  // As new: after a wait has given up, or to begin with another deadline. Collective.
  void reset(uint64_t deadline_ns);

  const volatile kernels::WaitRecord& record() const { return *record_; }
  void raise_abort() { *abort_ = 1; }

  kernels::KernelWorld world = {};
  Circumstances circumstances;
  Routes routes;  // by the rules
  cudaStream_t stream = nullptr;

 private:
  Meeting& meeting_;
  int gpus_ = 0;
  PeerMemory scratch_;
  volatile uint32_t* abort_ = nullptr;
  volatile kernels::WaitRecord* record_ = nullptr;
};

constexpr uint64_t kLongDeadlineNs = 20'000'000'000u;

// Runs `body` in `pes` processes; throws a Failure with the PEs' failures, or that time was over. The caller
// must not have used CUDA.
void run_gpu_pes(int pes, double deadline_seconds, const std::function<void(GpuPe&)>& body);

// PE numbers to run tests with: SPARKGAP_TEST_PES ("1,2,4,8"), or 1 and 2.
std::vector<int> pes_to_test();

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_GPU_GPU_PES_H
