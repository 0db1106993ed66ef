// Times calls of a whole GPU world: batches on its stream, of which the slowest PE's counts.
#ifndef SPARKGAP_BENCH_GPU_WORLD_TIMER_H
#define SPARKGAP_BENCH_GPU_WORLD_TIMER_H

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "support/check.h"
#include "support/pes.h"

namespace sparkgap::bench {

inline void cuda_ok(cudaError_t error, const char* what) {
  test::expect(error == cudaSuccess, "%s: %s", what, cudaGetErrorString(error));
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// What the PEs' processes share.
struct Meeting {
  std::atomic<int> arrived;
  std::atomic<int> rounds;
  double us[SPARKGAP_MAX_PES];
};

class WorldTimer {
 public:
  // The world's calls go to a stream of its own from here on.
  WorldTimer(const test::Pe& pe, Meeting& meeting) : pe_(pe), meeting_(meeting) {
    cuda_ok(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    cuda_ok(cudaEventCreate(&start_), "making an event");
    cuda_ok(cudaEventCreate(&end_), "making an event");
    pe.ok(sparkgap_world_set_stream(pe.world(), stream_), "set_stream");
  }

  cudaStream_t stream() const { return stream_; }

  void meet() {
    const int round = meeting_.rounds.load();
    if (++meeting_.arrived == pe_.pes()) {
      meeting_.arrived = 0;
      ++meeting_.rounds;
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (meeting_.rounds.load() == round) {
      test::expect(std::chrono::steady_clock::now() < end, "a PE does not come");
      std::this_thread::yield();
    }
  }

  // Microseconds of one call on the slowest PE, where `enqueue` makes `calls_each`.
  double batch(int times, int calls_each, const std::function<void()>& enqueue) {
    cuda_ok(cudaStreamSynchronize(stream_), "waiting");
    meet();
    cuda_ok(cudaEventRecord(start_, stream_), "recording");
    for (int i = 0; i < times; ++i) enqueue();
    cuda_ok(cudaEventRecord(end_, stream_), "recording");
    // With the world's deadline.
    pe_.ok(sparkgap_synchronize(pe_.world()), "synchronize");
    float ms = 0;
    cuda_ok(cudaEventElapsedTime(&ms, start_, end_), "comparing events");
    meeting_.us[pe_.pe()] = static_cast<double>(ms) * 1e3 / times / calls_each;
    meet();
    const double slowest = *std::max_element(meeting_.us, meeting_.us + pe_.pes());
    meet();
    return slowest;
  }

  // So many of them; the caller destroys it.
  cudaGraphExec_t graph_of(int calls, const std::function<void()>& enqueue) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cuda_ok(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "beginning a capture");
    for (int i = 0; i < calls; ++i) enqueue();
    cuda_ok(cudaStreamEndCapture(stream_, &graph), "ending a capture");
    cuda_ok(cudaGraphInstantiate(&executable, graph, 0), "instantiating a graph");
    cudaGraphDestroy(graph);
    return executable;
  }

  void launch(cudaGraphExec_t graph) { cuda_ok(cudaGraphLaunch(graph, stream_), "launching a graph"); }

 private:
  const test::Pe& pe_;
  Meeting& meeting_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace sparkgap::bench

#endif  // SPARKGAP_BENCH_GPU_WORLD_TIMER_H
