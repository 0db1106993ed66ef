// The kernel that stays on the GPU for small calls of host memory: what it gives, beside what, and when it goes.
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "gpu/worlds.h"
#include "step/steps.h"

namespace sparkgap::test {
namespace {

// Longer than any run, so that whatever would wait for the kernel shows.
constexpr int32_t kForEver = 600'000;

Pes resident_pes(int32_t idle_ms = kForEver) {
  Pes pes = world_of;
  pes.spoil_options = [idle_ms](int, sparkgap_world_options& options) { options.resident_idle_ms = idle_ms; };
  return pes;
}

void expect_launches(const Pe& pe, int launches) {
  const std::string text = sparkgap_world_describe(pe.world());
  const std::string expected = "a resident kernel, launched " + std::to_string(launches) + " times";
  expect(text.find(expected) != std::string::npos, "not %s: %s", expected.c_str(), text.c_str());
}

void sum_on_host(const Pe& pe, size_t count = 16) {
  std::vector<float> values = elements(pe.pe(), count);
  pe.ok(sparkgap_all_reduce(pe.world(), values.data(), values.data(), count, SPARKGAP_FLOAT32, SPARKGAP_SUM),
        "all_reduce");
  expect_equal(values, sum_of(pe.pes(), count), "a sum of host memory");
}

void many_small_sums_of_host_memory_are_one_launch() {
  if (spans_nodes()) return;
  run_pes(resident_pes(), [](const Pe& pe) {
    expect_launches(pe, 0);
    for (size_t i = 0; i < 2000; ++i) sum_on_host(pe, 1 + i % 256);
    expect_launches(pe, 1);
  });
}

void worlds_that_have_no_resident_kernel_say_so() {
  if (world_of.nodes.empty()) return;
  run_pes(resident_pes(), [](const Pe& pe) {
    sum_on_host(pe);
    const std::string text = sparkgap_world_describe(pe.world());
    expect(text.find("no resident kernel") != std::string::npos, "%s", text.c_str());
  });
}

// Every collective, from `in` to one part of `out` after the other, each of `count` elements a PE.
void all_collectives(const Pe& pe, const uint8_t* in, uint8_t* out, size_t count, int32_t type, int32_t op,
                     size_t stride) {
  sparkgap_world* world = pe.world();
  const int32_t root = pe.pes() - 1;
  pe.ok(sparkgap_all_reduce(world, in, out, count, type, op), "all_reduce");
  pe.ok(sparkgap_reduce_scatter(world, in, out + stride, count, type, op), "reduce_scatter");
  pe.ok(sparkgap_broadcast(world, in, out + 2 * stride, count, type, root), "broadcast");
  pe.ok(sparkgap_reduce(world, in, out + 3 * stride, count, type, op, root), "reduce");
  pe.ok(sparkgap_all_gather(world, in, out + 4 * stride, count, type), "all_gather");
  pe.ok(sparkgap_all_to_all(world, in, out + 5 * stride, count, type), "all_to_all");
}

// Counts of which some make more than the kernel takes; aligned to no more than an element has to be.
void small_calls_of_host_memory_give_the_same_bits_as_those_of_the_gpus() {
  if (spans_nodes()) return;
  run_pes(resident_pes(), [](const Pe& pe) {
    constexpr size_t kElementBytes[SPARKGAP_TYPES] = {4, 8, 2, 2, 1, 1, 4, 8};
    constexpr size_t kStride = 32 << 10;
    constexpr size_t kBytes = 7 * kStride;
    sparkgap_buffer* buffer = pe.allocate(kBytes + 8);
    std::vector<uint64_t> memory(kBytes / 8 + 1);
    std::vector<uint8_t> found(kBytes);
    for (int32_t type = 0; type < SPARKGAP_TYPES; ++type) {
      for (int32_t op = 0; op < SPARKGAP_OPS; ++op) {
        for (const size_t count : {1, 3, 16, 40, 300}) {
          const size_t first = count % 2 * kElementBytes[type];
          auto* const host = reinterpret_cast<uint8_t*>(memory.data()) + first;
          auto* const device = static_cast<uint8_t*>(sparkgap_buffer_address(buffer)) + first;
          std::memset(host, 0, kBytes);
          for (size_t i = 0; i < kStride; ++i)
            host[i] = static_cast<uint8_t>((i * 7 + static_cast<size_t>(pe.pe())) % 50);
          pe.ok(sparkgap_put(pe.world(), buffer, first, host, kBytes, pe.pe()), "put");
          all_collectives(pe, host, host + kStride, count, type, op, kStride);
          all_collectives(pe, device, device + kStride, count, type, op, kStride);
          pe.ok(sparkgap_get(pe.world(), found.data(), buffer, first, kBytes, pe.pe()), "get");
          expect(std::memcmp(host, found.data(), kBytes) == 0, "type %d, op %d, %zu elements", type, op, count);
        }
      }
    }
  });
}

void a_pe_without_a_resident_kernel_meets_one_that_has_it() {
  if (has_no_peer() || spans_nodes()) return;
  Pes pes = world_of;
  pes.spoil_options = [](int pe, sparkgap_world_options& options) {
    options.resident_idle_ms = pe == 1 ? 0 : kForEver;
  };
  run_pes(pes, [](const Pe& pe) {
    for (size_t i = 0; i < 300; ++i) sum_on_host(pe, 1 + i % 256);
  });
}

// Some are under way when the host's memory is summed, some come from a step, and some from a graph of the caller's.
void calls_of_all_ways_follow_each_other() {
  if (spans_nodes()) return;
  // What the caller's graph needs of the GPU may wait for it.
  run_pes(resident_pes(20), [](const Pe& pe) {
    constexpr size_t kCount = 1000;
    sparkgap_buffer* buffer = pe.allocate(kCount * sizeof(float));
    auto* const values = static_cast<float*>(sparkgap_buffer_address(buffer));
    const auto enqueue = [&](int sums) {
      for (int i = 0; i < sums; ++i) {
        pe.ok(sparkgap_all_reduce(pe.world(), values, values, kCount, SPARKGAP_FLOAT32, SPARKGAP_MAX), "all_reduce");
      }
    };
    sparkgap_step* step = record(pe, [&] { enqueue(5); });
    const auto stream = static_cast<cudaStream_t>(sparkgap_world_stream(pe.world()));
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    const auto capture = [&] {
      cuda_ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin capture");
      enqueue(3);
      cuda_ok(cudaStreamEndCapture(stream, &graph), "end capture");
      cuda_ok(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
    };
    write(pe, buffer, elements(pe.pe(), kCount));
    for (int round = 0; round < 200; ++round) {
      if (round == 100) capture();
      sum_on_host(pe);
      if (round % 2 == 0) enqueue(round % 7);
      sum_on_host(pe);
      if (round % 3 == 0) run(pe, step);
      sum_on_host(pe);
      if (round % 5 == 0) synchronize(pe);
      if (round >= 100 && round % 4 == 0) cuda_ok(cudaGraphLaunch(executable, stream), "launch");
      sum_on_host(pe);
      sum_on_host(pe);
    }
    synchronize(pe);
    expect_equal(read(pe, buffer, kCount), elements(pe.pes() - 1, kCount), "the largest");
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  });
}

void it_goes_by_itself_when_it_has_nothing_to_do() {
  if (spans_nodes()) return;
  run_pes(resident_pes(20), [](const Pe& pe) {
    for (int launches = 1; launches <= 3; ++launches) {
      sum_on_host(pe);
      expect_launches(pe, launches);
      cuda_ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
  });
}

// Each of these would wait for it until the test is killed.
void it_goes_before_what_would_wait_for_it() {
  if (spans_nodes()) return;
  run_pes(resident_pes(), [](const Pe& pe) {
    int launches = 0;
    const auto expect_gone_after = [&](const char* what) {
      cuda_ok(cudaDeviceSynchronize(), what);
      sum_on_host(pe);
      expect_launches(pe, ++launches);
    };
    expect_gone_after("nothing");
    sparkgap_buffer* buffer = pe.allocate(4000);
    expect_gone_after("allocate");
    auto* const values = static_cast<float*>(sparkgap_buffer_address(buffer));
    sparkgap_step* step = record(pe, [&] {
      sum(pe, values, 100);
      sum(pe, values, 100);
    });
    expect_gone_after("the record of a step");
    pe.ok(sparkgap_step_destroy(pe.world(), step), "destroy");
    expect_gone_after("the close of a step");
    pe.ok(sparkgap_free(pe.world(), buffer), "free");
    expect_gone_after("free");
    // More than staging has had so far.
    std::vector<float> large = elements(pe.pe(), 1 << 20);
    pe.ok(sparkgap_all_reduce(pe.world(), large.data(), large.data(), large.size(), SPARKGAP_FLOAT32, SPARKGAP_SUM),
          "all_reduce");
    expect_equal(large, sum_of(pe.pes(), large.size()), "a large sum");
    expect_gone_after("staging that grows");
    // And at last before the end of the world.
  });
}

void it_goes_when_the_world_is_aborted() {
  if (spans_nodes()) return;
  const Shared<std::atomic<int>> called;
  run_pes(resident_pes(), [&](const Pe& pe) {
    sum_on_host(pe);
    called->fetch_add(1);
    while (called->load() < pe.pes()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (pe.pe() == pe.pes() - 1) sparkgap_world_abort(pe.world(), "enough");
    cuda_ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    std::vector<float> values(16);
    expect_failure(pe.world(),
                   sparkgap_all_reduce(pe.world(), values.data(), values.data(), 16, SPARKGAP_FLOAT32, SPARKGAP_SUM),
                   SPARKGAP_ABORTED, {"enough"});
  });
}

void an_abort_ends_a_call_that_it_is_in() {
  if (has_no_peer() || spans_nodes()) return;
  run_pes(resident_pes(), [](const Pe& pe) {
    sum_on_host(pe);
    if (pe.pe() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      sparkgap_world_abort(pe.world(), "enough");
      return;
    }
    std::vector<float> values(16);
    expect_failure(pe.world(),
                   sparkgap_all_reduce(pe.world(), values.data(), values.data(), 16, SPARKGAP_FLOAT32, SPARKGAP_SUM),
                   SPARKGAP_ABORTED, {"PE 1 (test PE 1)", "enough"});
    cuda_ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  });
}

void a_pe_that_does_not_ring_is_named_at_the_deadline() {
  if (has_no_peer() || spans_nodes()) return;
  Pes pes = resident_pes();
  pes.peer_timeout_ms = 3000;
  const Shared<std::atomic<int>> ended;
  run_pes(pes, [&](const Pe& pe) {
    sum_on_host(pe);
    if (pe.pe() == 1) {
      while (ended->load() < pe.pes() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return;
    }
    std::vector<float> values(16);
    const sparkgap_status status =
        sparkgap_all_reduce(pe.world(), values.data(), values.data(), 16, SPARKGAP_FLOAT32, SPARKGAP_SUM);
    ended->fetch_add(1);
    expect_failure(pe.world(), status, SPARKGAP_TIMED_OUT, {"allReduce", "3000 ms", "spark.sparkgap.peer.timeout"});
    cuda_ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  });
}

void small_calls_of_host_memory_that_differ_are_told_apart() {
  if (has_no_peer() || spans_nodes()) return;
  run_pes(resident_pes(), [](const Pe& pe) {
    sum_on_host(pe);
    std::vector<float> values(16);
    const int32_t op = pe.pe() == 1 ? SPARKGAP_MAX : SPARKGAP_SUM;
    expect_failure(pe.world(), sparkgap_all_reduce(pe.world(), values.data(), values.data(), 16, SPARKGAP_FLOAT32, op),
                   SPARKGAP_MISMATCH, {"allReduce"});
  });
}

}  // namespace

std::vector<Test> tests_of_resident() {
  return {
      {"many_small_sums_of_host_memory_are_one_launch", many_small_sums_of_host_memory_are_one_launch},
      {"worlds_that_have_no_resident_kernel_say_so", worlds_that_have_no_resident_kernel_say_so},
      {"small_calls_of_host_memory_give_the_same_bits_as_those_of_the_gpus",
       small_calls_of_host_memory_give_the_same_bits_as_those_of_the_gpus},
      {"a_pe_without_a_resident_kernel_meets_one_that_has_it", a_pe_without_a_resident_kernel_meets_one_that_has_it},
      {"calls_of_all_ways_follow_each_other", calls_of_all_ways_follow_each_other},
      {"it_goes_by_itself_when_it_has_nothing_to_do", it_goes_by_itself_when_it_has_nothing_to_do},
      {"it_goes_before_what_would_wait_for_it", it_goes_before_what_would_wait_for_it},
      {"it_goes_when_the_world_is_aborted", it_goes_when_the_world_is_aborted},
      {"an_abort_ends_a_call_that_it_is_in", an_abort_ends_a_call_that_it_is_in},
      {"a_pe_that_does_not_ring_is_named_at_the_deadline", a_pe_that_does_not_ring_is_named_at_the_deadline},
      {"small_calls_of_host_memory_that_differ_are_told_apart", small_calls_of_host_memory_that_differ_are_told_apart},
  };
}

}  // namespace sparkgap::test
