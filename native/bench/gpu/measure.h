// How the GPU benchmarks measure, ours and the peers' alike: the slowest PE's time counts, and the result is the median
// of five batches after one that warms up.
#ifndef SPARKGAP_BENCH_GPU_MEASURE_H
#define SPARKGAP_BENCH_GPU_MEASURE_H

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <vector>

#include "gpu/gpu_pes.h"

namespace sparkgap::bench {

constexpr int kBatches = 5;

using Enqueue = std::function<void()>;

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

inline double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double slowest(test::GpuPe& pe, double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  double most = 0;
  for (const uint64_t other : pe.exchange(bits)) {
    double us;
    std::memcpy(&us, &other, sizeof us);
    most = std::max(most, us);
  }
  return most;
}

// Enqueued back to back, timed on the GPU from before the first to behind the last.
inline double by_stream(test::GpuPe& pe, int iterations, const Enqueue& enqueue) {
  cudaEvent_t start, end;
  test::cuda_ok(cudaEventCreate(&start), "cudaEventCreate");
  test::cuda_ok(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<double> batches;
  for (int batch = 0; batch <= kBatches; ++batch) {
    pe.synchronize();
    pe.meet();
    test::cuda_ok(cudaEventRecord(start, pe.stream), "cudaEventRecord");
    for (int i = 0; i < iterations; ++i) enqueue();
    test::cuda_ok(cudaEventRecord(end, pe.stream), "cudaEventRecord");
    test::cuda_ok(cudaEventSynchronize(end), "cudaEventSynchronize");
    float ms = 0;
    test::cuda_ok(cudaEventElapsedTime(&ms, start, end), "cudaEventElapsedTime");
    const double us = slowest(pe, ms * 1e3 / iterations);
    if (batch > 0) batches.push_back(us);
  }
  cudaEventDestroy(start);
  cudaEventDestroy(end);
  return median(batches);
}

// The same of each of the `calls` that `enqueue` enqueues, captured once and launched again and again.
inline double of_graph(test::GpuPe& pe, int launches, int calls, const Enqueue& enqueue) {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  test::cuda_ok(cudaStreamBeginCapture(pe.stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  enqueue();
  test::cuda_ok(cudaStreamEndCapture(pe.stream, &graph), "cudaStreamEndCapture");
  test::cuda_ok(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  const double us =
      by_stream(pe, launches, [&] { test::cuda_ok(cudaGraphLaunch(executable, pe.stream), "cudaGraphLaunch"); });
  pe.synchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  return us / calls;
}

// The same, of a graph of kInGraph calls.
inline double in_graph(test::GpuPe& pe, int launches, const Enqueue& enqueue) {
  constexpr int kInGraph = 20;
  return of_graph(pe, launches, kInGraph, [&] {
    for (int i = 0; i < kInGraph; ++i) enqueue();
  });
}

// From before the call to behind cudaStreamSynchronize, on the host: the median of the calls of a batch.
inline double launch_and_sync(test::GpuPe& pe, int iterations, const Enqueue& enqueue) {
  std::vector<double> batches;
  for (int batch = 0; batch <= kBatches; ++batch) {
    pe.meet();
    std::vector<double> calls;
    for (int i = 0; i < iterations; ++i) {
      const double start = now_us();
      enqueue();
      pe.synchronize();
      calls.push_back(now_us() - start);
    }
    const double us = slowest(pe, median(calls));
    if (batch > 0) batches.push_back(us);
  }
  return median(batches);
}

}  // namespace sparkgap::bench
#endif  // SPARKGAP_BENCH_GPU_MEASURE_H
