// From the call on host memory to its result there: launched and waited for, and by the kernel that stays
// (engine/device/cuda/resident.h), in turns, each as a world makes them.
#ifndef SPARKGAP_BENCH_GPU_RESIDENT_H
#define SPARKGAP_BENCH_GPU_RESIDENT_H

#include "engine/device/cuda/resident.h"
#include "engine/device/cuda/staging.h"
#include "measure.h"
#include "report.h"

namespace sparkgap::bench {

// Microseconds on the host: the median of the calls of a batch, of which the slowest PE's and then the median counts.
inline double to_result_us(test::GpuPe& pe, int calls, const Enqueue& call) {
  std::vector<double> batches;
  for (int batch = 0; batch <= kBatches; ++batch) {
    pe.meet();
    std::vector<double> each;
    for (int i = 0; i < calls; ++i) {
      const double start = now_us();
      call();
      each.push_back(now_us() - start);
    }
    const double us = slowest(pe, median(each));
    if (batch > 0) batches.push_back(us);
  }
  return median(batches);
}

// Of float32, as long as the arrays have at most `most` bytes.
inline void measure_resident(test::GpuPe& pe, Report& report, int collective, uint64_t from, uint64_t most) {
  constexpr int kCalls = 500;
  constexpr int32_t kIdleMs = 1000;
  int device = 0;
  test::cuda_ok(cudaGetDevice(&device), "cudaGetDevice");
  MemoryMap memory(device, pe.pe());
  Staging staging(pe.pe(), pe.pes());
  Resident resident(pe.world, kIdleMs);
  std::vector<float> in(most / 4), out(most / 4);
  for (uint64_t bytes = from; bytes <= most; bytes *= 4) {
    CollectiveCall call = make_call(collective, in.data(), out.data(), bytes / 4, SPARKGAP_FLOAT32, SPARKGAP_SUM);
    call.algorithm = Algorithm::kPackets;
    const Collective& what = description_of(call);
    if (std::max(array_bytes(call, what.in, pe.pes()), array_bytes(call, what.out, pe.pes())) > most) break;
    const auto add = [&](const char* mode, const Enqueue& make) {
      report.add({what.name, "sparkgap", "host", mode, "packets", bytes, to_result_us(pe, kCalls, make)});
    };
    add("to result, launched", [&] {
      kernels::KernelCall staged = {};
      static_cast<CollectiveCall&>(staged) = call;
      staging.stage(staged, memory, pe.stream);
      resident.expect_call(call, pe.stream);
      pe.launch(staged);
      // As a world waits.
      while (cudaStreamQuery(pe.stream) == cudaErrorNotReady) {
      }
      staging.finish(pe.stream);
    });
    pe.synchronize();
    add("to result, resident", [&] {
      if (!resident.ring(call, memory, pe.stream)) throw test::Failure("the resident kernel did not take the call");
      while (!resident.is_answered()) {
      }
      resident.finish();
    });
    resident.end();
    pe.meet();
  }
}

}  // namespace sparkgap::bench
#endif  // SPARKGAP_BENCH_GPU_RESIDENT_H
