// Kernels enqueued as graphs of one node, which are kept. To launch such a graph takes the host 1.2 to 2 us, to change
// its parameters another 0.7 to 1 us, but to launch the kernel by itself 3.1 to 4.4 us (H200, CUDA 13.0): by stream,
// that call is the floor of a small collective.
#ifndef SPARKGAP_COLLECTIVE_LAUNCH_CACHE_H
#define SPARKGAP_COLLECTIVE_LAUNCH_CACHE_H

#include <cuda_runtime.h>

#include <cstdint>

#include "collective/kernels.h"

namespace sparkgap::kernels {

struct LaunchShape {
  const void* kernel;
  int32_t lanes;
  int32_t threads;
  // Set up while the kernel before it in the stream still runs, which only a launch by itself can: takes the host
  // longer and the GPU shorter. For what runs longer than its launch takes.
  bool overlaps;
};

class LaunchCache {
 public:
  LaunchCache() = default;
  ~LaunchCache();
  LaunchCache(const LaunchCache&) = delete;
  LaunchCache& operator=(const LaunchCache&) = delete;

  // Makes all graphs, so that launch() allocates nothing. A cudaError_t.
  int32_t fill();

  // Enqueues the kernel with its one parameter, `bytes` long, at most kMaxParameterBytes. The stream must not be
  // capturing. A cudaError_t.
  int32_t launch(CUstream_st* stream, const LaunchShape& shape, const void* parameters, uint64_t bytes);

  static constexpr uint64_t kMaxParameterBytes = 1024;

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

  Entry* find(const LaunchShape& shape, const void* parameters, uint64_t bytes);
  int32_t change(Entry& entry, const LaunchShape& shape, const void* parameters, uint64_t bytes);

  Entry entries_[kGraphs] = {};
  int32_t last_ = 0;  // most often the next as well
  uint64_t launches_ = 0;
};

// How every kernel of a collective is enqueued: from the world's cache, or, if it is to overlap or the stream is
// capturing, by itself. Back to back, 64 KiB in packets take 4.0 us from the cache and 2.6 us by themselves if the host
// can launch that fast; 64 bytes 3.2 us, where the host's 2.6 to 3.8 us are all that counts.
int32_t enqueue(const KernelWorld& world, CUstream_st* stream, const LaunchShape& shape, const void* parameters,
                uint64_t bytes);

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_LAUNCH_CACHE_H
