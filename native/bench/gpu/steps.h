// A step of 50 collectives, launched as one: as a graph of a kernel each, and as a graph of one kernel that goes
// through them (collective/program.h).
#ifndef SPARKGAP_BENCH_GPU_STEPS_H
#define SPARKGAP_BENCH_GPU_STEPS_H

#include "collective/program.h"
#include "measure.h"
#include "report.h"

namespace sparkgap::bench {

constexpr int kStepCalls = 50;

// `call`, kStepCalls times in place of each other. Nothing where one kernel cannot have it.
inline void measure_step(test::GpuPe& pe, Report& report, const kernels::KernelCall& call, uint64_t bytes) {
  kernels::Program program;
  for (int32_t i = 1; i <= kStepCalls; ++i) {
    pe.world.place = {1, i};
    program.add(pe.world, call);
  }
  pe.world.place = {};
  if (program.calls() == 0) return;
  void* memory = nullptr;
  test::cuda_ok(cudaMalloc(&memory, program.bytes()), "cudaMalloc");
  test::cuda_ok(program.upload(memory, pe.stream), "upload");
  pe.synchronize();
  pe.meet();
  const char* const name = description_of(call).name;
  const auto add = [&](const char* mode, const Enqueue& enqueue) {
    report.add({name, "sparkgap", "private", mode, "packets", bytes, of_graph(pe, 40, kStepCalls, enqueue)});
  };
  add("step, a graph", [&] {
    for (int i = 0; i < kStepCalls; ++i) pe.launch(call);
  });
  add("step, one kernel", [&] { test::cuda_ok(program.launch(pe.world, pe.stream, memory), "launch"); });
  pe.synchronize();
  pe.meet();
  cudaFree(memory);
}

}  // namespace sparkgap::bench
#endif  // SPARKGAP_BENCH_GPU_STEPS_H
