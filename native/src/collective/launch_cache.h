// How kernels of collectives are enqueued, and what makes that cheap.
//
// There are two ways. A launch by itself may overlap with the kernel before it in the stream, which is set up while
// that one still runs: back to back a small all-reduce then takes the GPU about a third less. Or the kernel is a graph
// of one node, which is kept: to launch that takes the host 1.2 to 2 us, to change its parameters another 0.7 to 1,
// where a launch by itself takes 2 to 4.4, depending on the host (H200, CUDA 13.0); but graphs in a row do not overlap.
// What is launched alone and waited for is there sooner as a graph. So a world measures, when it is made, what a launch
// by itself takes on its host, and sees by the clock whether its caller makes one small call after the other.
#ifndef SPARKGAP_COLLECTIVE_LAUNCH_CACHE_H
#define SPARKGAP_COLLECTIVE_LAUNCH_CACHE_H

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "collective/kernels.h"

namespace sparkgap::kernels {

struct LaunchShape {
  const void* kernel;
  int32_t lanes;
  int32_t threads;
  // For what runs longer than any launch takes: a launch by itself on every host.
  bool overlaps;
  uint32_t shared_bytes;  // dynamic
};

class LaunchCache {
 public:
  LaunchCache() = default;
  ~LaunchCache();
  LaunchCache(const LaunchCache&) = delete;
  LaunchCache& operator=(const LaunchCache&) = delete;

  // Makes all graphs, so that launch() allocates nothing, and measures the host: about a millisecond. A cudaError_t.
  int32_t fill(int32_t compute_major);

  // Enqueues the kernel with its one parameter, `bytes` long, at most kMaxParameterBytes. The stream must not be
  // capturing. A cudaError_t.
  int32_t launch(CUstream_st* stream, const LaunchShape& shape, const void* parameters, uint64_t bytes);

  // The same by itself, on any stream.
  int32_t launch_by_itself(CUstream_st* stream, const LaunchShape& shape, const void* parameters);

  static constexpr uint64_t kMaxParameterBytes = 1024;

  // For each small call, when it is made: whether it is better launched by itself, too. That is so where the caller is
  // ahead of the GPU, on a host that launches fast; a call that somebody waits for is there sooner as a graph.
  bool is_caller_ahead();
  // Instead of what was measured: for benchmarks of both ways.
  void set_host_keeps_up(bool keeps_up) { host_keeps_up_ = keeps_up; }

 private:
  // Calls that a program makes again and again; one more than these costs the change of the parameters each time.
  static constexpr int32_t kGraphs = 16;

  struct Entry {
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t executable;
    LaunchShape shape;
    uint64_t bytes;
    uint64_t used;  // when, in launches
    uint8_t parameters[kMaxParameterBytes];
  };

  // The driver's handle of a kernel, and its launch, which has less to do than the runtime's: 3.3 us instead of 3.7
  // where an empty kernel takes 3.8.
  struct Function {
    const void* kernel;
    CUfunc_st* function;
  };
  using DriverLaunch = CUresult (*)(const CUlaunchConfig*, CUfunction, void**, void**);
  static constexpr int32_t kFunctions = 512;

  int32_t find_function(const void* kernel, CUfunc_st** function);
  int32_t measure();

  Entry* find(const LaunchShape& shape, const void* parameters, uint64_t bytes);
  int32_t change(Entry& entry, const LaunchShape& shape, const void* parameters, uint64_t bytes);

  int32_t compute_major_ = 0;
  DriverLaunch driver_launch_ = nullptr;
  Function functions_[kFunctions] = {};
  Entry entries_[kGraphs] = {};
  int32_t last_ = 0;  // most often the next as well
  uint64_t launches_ = 0;
  bool host_keeps_up_ = false;
  double last_small_us_ = 0;  // when the last small call was made
};

// Enqueues a kernel of a collective in the way that suits it and the host. A captured stream always gets launches by
// themselves, which overlap in the graph.
int32_t enqueue(const KernelWorld& world, CUstream_st* stream, const LaunchShape& shape, const void* parameters,
                uint64_t bytes);

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_LAUNCH_CACHE_H
