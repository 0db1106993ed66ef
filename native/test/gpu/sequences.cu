// Many calls, one after the other: what stays in the scratch of one must not harm the next.
#include <random>

#include "gpu/kernel_case.h"
#include "gpu/tests.h"
#include "protocol/line.cuh"
#include "protocol/scratch.h"
#include "support/reference.h"

namespace sparkgap::test {
namespace {

Algorithm algorithm_for(const GpuPe& pe, int32_t collective, uint64_t bytes) {
  return pe.routes.choose(collective, bytes);
}

// The same on all PEs, which draw from generators of the same seed.
KernelCase random_case(const GpuPe& pe, std::mt19937_64& random) {
  KernelCase c;
  c.collective = static_cast<int32_t>(random() % SPARKGAP_COLLECTIVES);
  c.type = static_cast<int32_t>(random() % SPARKGAP_TYPES);
  c.op = static_cast<int32_t>(random() % SPARKGAP_OPS);
  c.count = random() % (uint64_t{1} << (random() % 18));
  c.root = static_cast<int32_t>(random() % pe.pes());
  c.in_place = random() % 2 == 0;
  c.symmetric = random() % 2 == 0;
  c.shift_apart = random() % 2 == 0;
  c.shift = static_cast<int>(random() % 4);
  c.salt = random() % 1000;
  c.algorithm = algorithm_for(pe, c.collective, c.count * bytes_of(c.type));
  // Of small ones, too, and where the selector would not take it.
  constexpr Algorithm kOthers[] = {Algorithm::kRing, Algorithm::kTwoShot, Algorithm::kOneShot, Algorithm::kLines};
  if (c.collective == SPARKGAP_ALL_REDUCE && random() % 3 != 0) c.algorithm = kOthers[random() % 4];
  // Lanes change from call to call.
  if (random() % 4 == 0)
    c.shape = {static_cast<int32_t>(random() % 6) + 1, 64, 2048, static_cast<int32_t>(random() % 3) * 3,
               static_cast<int32_t>(random() % 4)};
  return c;
}

__global__ void delay(uint64_t ns) {
  uint64_t start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - start < ns);
}

__device__ uint32_t value_of(uint32_t operation, int32_t pe, uint32_t i) {
  return (operation * 2654435761u) ^ (pe * 40503u + i * 97u);
}

__global__ void fill(uint32_t* in, uint32_t count, uint32_t operation, int32_t pe) {
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) in[i] = value_of(operation, pe, i);
}

__global__ void check_sum(const uint32_t* out, uint32_t count, uint32_t operation, int32_t pes, uint32_t* wrong) {
  for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
    uint32_t sum = 0;
    for (int32_t pe = 0; pe < pes; ++pe) sum += value_of(operation, pe, i);
    if (sum != out[i] && atomicAdd(wrong, 1u) == 0) wrong[1] = operation;
  }
}

}  // namespace

void run_mixture(int pes) {
  const Inputs inputs(pes);
  run_gpu_pes(pes, 120, [&](GpuPe& pe) {
    KernelRunner runner(pe, inputs, (uint64_t{1} << 17) * 8 * (pes + 1));
    std::mt19937_64 random(7);
    for (int i = 0; i < 600; ++i) {
      const KernelCase c = random_case(pe, random);
      runner.enqueue(c);
      // Others whose results nobody looks at, so that the streams of the PEs run apart.
      const KernelCase last = c;
      if (c.collective != SPARKGAP_BARRIER) runner.check(last);
      for (int k = 0; k < 8; ++k) runner.call(random_case(pe, random));
    }
    pe.synchronize();
    pe.expect_no_failure("the last calls");
  });
}

void run_back_to_back(int pes) {
  run_gpu_pes(pes, 120, [&](GpuPe& pe) {
    constexpr uint32_t kOperations = 100000;
    constexpr uint32_t kMostCount = 5000;
    uint32_t* in = reinterpret_cast<uint32_t*>(pe.allocate(kMostCount * 4).own());
    uint32_t* out = reinterpret_cast<uint32_t*>(pe.allocate(kMostCount * 4).own());
    uint32_t* wrong = reinterpret_cast<uint32_t*>(pe.allocate(8).own());
    std::mt19937_64 same(3);
    std::mt19937_64 own(100 + pe.pe());
    for (uint32_t operation = 0; operation < kOperations; ++operation) {
      const uint32_t count = static_cast<uint32_t>(same() % (same() % 64 == 0 ? kMostCount : 200)) + 1;
      fill<<<1, 256, 0, pe.stream>>>(in, count, operation, pe.pe());
      if (own() % 32 == 0) delay<<<1, 1, 0, pe.stream>>>(own() % 20000);
      kernels::KernelCall call = {};
      call.collective = SPARKGAP_ALL_REDUCE;
      constexpr Algorithm kSome[] = {Algorithm::kTwoShot, Algorithm::kRing, Algorithm::kOneShot, Algorithm::kLines};
      call.algorithm = operation % 4 == 3 ? kSome[operation / 4 % 4] : Algorithm::kPackets;
      call.type = SPARKGAP_INT32;
      call.count = count;
      call.in = in;
      call.out = operation % 2 == 0 ? in : out;
      pe.launch(call);
      check_sum<<<1, 256, 0, pe.stream>>>(static_cast<uint32_t*>(call.out), count, operation, pes, wrong);
    }
    pe.synchronize();
    cuda_ok(cudaGetLastError(), "a kernel of the test");
    uint32_t found[2];
    cuda_ok(cudaMemcpy(found, wrong, sizeof found, cudaMemcpyDeviceToHost), "cudaMemcpy");
    pe.expect_no_failure("the last calls");
    expect(found[0] == 0, "%u elements are wrong, the first in operation %u", found[0], found[1]);
  });
}

void run_graph(int pes) {
  const Inputs inputs(pes);
  run_gpu_pes(pes, 120, [&](GpuPe& pe) {
    // Of each collective a small and a large one, each with memory of its own, between copies.
    std::vector<KernelCase> cases;
    for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
      for (const uint64_t count : {uint64_t{37}, uint64_t{200000}}) {
        KernelCase c;
        c.collective = collective;
        c.type = SPARKGAP_FLOAT32;
        c.count = count;
        c.symmetric = count > 1000;
        c.algorithm = algorithm_for(pe, collective, count * 4);
        cases.push_back(c);
        if (collective != SPARKGAP_ALL_REDUCE) continue;
        for (const Algorithm other : {Algorithm::kRing, Algorithm::kLines, Algorithm::kOneShot, Algorithm::kTwoShot}) {
          c.algorithm = other;
          cases.push_back(c);
        }
      }
    }
    std::vector<std::unique_ptr<KernelRunner>> runners;
    for (size_t i = 0; i < cases.size(); ++i) {
      runners.push_back(std::make_unique<KernelRunner>(pe, inputs, 200000 * 4 * (pes + 1)));
    }
    void* copied = pe.allocate(64).own();

    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    cuda_ok(cudaStreamBeginCapture(pe.stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    for (size_t i = 0; i < cases.size(); ++i) {
      runners[i]->call(cases[i]);
      if (i % 3 == 0) {
        cuda_ok(cudaMemcpyAsync(copied, pe.world.scratch[pe.pe()], 64, cudaMemcpyDeviceToDevice, pe.stream), "copy");
      }
    }
    cuda_ok(cudaStreamEndCapture(pe.stream, &graph), "cudaStreamEndCapture");
    cuda_ok(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");

    for (uint64_t replay = 1; replay <= 20; ++replay) {
      // New inputs, which also runs each call outside the graph: the sequence numbers go on.
      for (size_t i = 0; i < cases.size(); ++i) {
        // An allToAllv's counts go by the salt, and those are in the graph.
        if (cases[i].collective != SPARKGAP_ALL_TO_ALLV) cases[i].salt = replay;
        runners[i]->enqueue(cases[i]);
      }
      for (int k = 0; k < 25; ++k) cuda_ok(cudaGraphLaunch(executable, pe.stream), "cudaGraphLaunch");
      for (size_t i = 0; i < cases.size(); ++i) runners[i]->check(cases[i]);
    }
    cuda_ok(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
    cuda_ok(cudaGraphDestroy(graph), "cudaGraphDestroy");
  });
}

// Whose every third word or so, and some runs of words, are what lines carry as zeros.
void run_hidden_words(int pes) {
  run_gpu_pes(pes, 60, [&](GpuPe& pe) {
    constexpr uint64_t kCount = 20001;
    const auto word = [](uint64_t round, int from, uint64_t i) -> uint64_t {
      const bool hidden = i / 64 % 5 == 0 || (i * 7 + from + round) % 3 == 0;
      return hidden ? kernels::kVeil : i + round * 1000003 + static_cast<uint64_t>(from);
    };
    uint64_t* in = reinterpret_cast<uint64_t*>(pe.allocate(kCount * 8).own());
    uint64_t* out = reinterpret_cast<uint64_t*>(pe.allocate(kCount * 8).own());
    std::vector<uint64_t> words(kCount);
    for (uint64_t round = 0; round < 12; ++round) {
      for (uint64_t i = 0; i < kCount; ++i) words[i] = word(round, pe.pe(), i);
      cuda_ok(cudaMemcpyAsync(in, words.data(), kCount * 8, cudaMemcpyHostToDevice, pe.stream), "cudaMemcpyAsync");
      kernels::KernelCall call = {};
      call.collective = SPARKGAP_ALL_REDUCE;
      call.algorithm = Algorithm::kLines;
      call.type = SPARKGAP_INT64;
      call.count = kCount - round % 2;
      call.in = in;
      call.out = round % 3 == 0 ? in : out;
      if (round % 2 != 0) call.shape = {5, 96, 0, 0, 0};
      pe.launch(call);
      pe.synchronize();
      pe.expect_no_failure("a call with hidden words");
      cuda_ok(cudaMemcpy(words.data(), call.out, kCount * 8, cudaMemcpyDeviceToHost), "cudaMemcpy");
      for (uint64_t i = 0; i < call.count; ++i) {
        uint64_t sum = 0;
        for (int from = 0; from < pes; ++from) sum += word(round, from, i);
        expect(words[i] == sum, "round %lu, word %lu: %lx, not %lx", round, i, words[i], sum);
      }
      pe.meet();
    }
  });
}

}  // namespace sparkgap::test
