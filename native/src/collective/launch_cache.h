// How kernels of collectives are enqueued, and what makes that cheap.
//
// There are two ways. A launch by itself may overlap with the kernel before it in the stream, which is set up while
// that one still runs: back to back a small all-reduce then takes the GPU about a third less. Or the kernel is a graph
// of one node, which is kept: to launch that takes the host 1.2 to 2 us, to change its parameters another 0.7 to 1,
// where a launch by itself takes 2 to 4.4, depending on the host (H200, CUDA 13.0); but graphs in a row do not overlap.
// So a world measures, when it is made, what a launch by itself takes on its host.
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

  static constexpr uint64_t kMaxParameterBytes = 1024;

  // Whether this host launches so fast that a small call is better launched by itself, too.
  bool host_keeps_up() const { return host_keeps_up_; }

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

  int32_t measure(int32_t compute_major);

  Entry* find(const LaunchShape& shape, const void* parameters, uint64_t bytes);
  int32_t change(Entry& entry, const LaunchShape& shape, const void* parameters, uint64_t bytes);

  Entry entries_[kGraphs] = {};
  int32_t last_ = 0;  // most often the next as well
  uint64_t launches_ = 0;
  bool host_keeps_up_ = false;
};

// Enqueues a kernel of a collective in the way that suits it and the host. A captured stream always gets launches by
// themselves, which overlap in the graph.
int32_t enqueue(const KernelWorld& world, CUstream_st* stream, const LaunchShape& shape, const void* parameters,
                uint64_t bytes);

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_LAUNCH_CACHE_H
