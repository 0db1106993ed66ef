// Steps of GPU worlds: a CUDA graph each.
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "gpu/worlds.h"
#include "step/steps.h"

namespace sparkgap::test {
namespace {

// Every collective, from `in` to one part of `out` after the other; returns the floats of `out`.
size_t all_collectives(const Pe& pe, const float* in, float* out, size_t count) {
  sparkgap_world* world = pe.world();
  const size_t pes = static_cast<size_t>(pe.pes());
  const int root = pe.pes() - 1;
  const std::vector<uint64_t> counts(pes, count);
  std::vector<uint64_t> offsets(pes);
  for (size_t i = 0; i < pes; ++i) offsets[i] = i * count;
  constexpr int32_t kType = SPARKGAP_FLOAT32;
  pe.ok(sparkgap_all_reduce(world, in, out, count, kType, SPARKGAP_AVG), "all_reduce");
  pe.ok(sparkgap_reduce_scatter(world, in, out + count, count, kType, SPARKGAP_SUM), "reduce_scatter");
  pe.ok(sparkgap_broadcast(world, in, out + 2 * count, count, kType, root), "broadcast");
  pe.ok(sparkgap_reduce(world, in, out + 3 * count, count, kType, SPARKGAP_MAX, root), "reduce");
  pe.ok(sparkgap_barrier(world), "barrier");
  float* const blocks = out + 4 * count;
  pe.ok(sparkgap_all_gather(world, in, blocks, count, kType), "all_gather");
  pe.ok(sparkgap_all_to_all(world, in, blocks + pes * count, count, kType), "all_to_all");
  pe.ok(sparkgap_all_to_allv(world, in, counts.data(), offsets.data(), blocks + 2 * pes * count, counts.data(),
                             offsets.data(), kType),
        "all_to_allv");
  return (4 + 3 * pes) * count;
}

void expect_same_as_calls(const Pe& pe) {
  for (const size_t count : {size_t{16}, size_t{5000}, size_t{100'000}, size_t{1'000'000}}) {
    const size_t pes = static_cast<size_t>(pe.pes());
    const size_t results = (4 + 3 * pes) * count;
    sparkgap_buffer* in = pe.allocate(pes * count * sizeof(float));
    sparkgap_buffer* out = pe.allocate(2 * results * sizeof(float));
    auto* from = static_cast<float*>(sparkgap_buffer_address(in));
    auto* to = static_cast<float*>(sparkgap_buffer_address(out));
    sparkgap_step* step = record(pe, [&] { all_collectives(pe, from, to, count); });
    expect(sparkgap_step_calls(step) == 8, "%d calls", sparkgap_step_calls(step));
    for (int round = 0; round < 5; ++round) {
      std::vector<float> values = elements(pe.pe() + round, pes * count);
      for (float& value : values) value /= 3;
      write(pe, in, values);
      run(pe, step);
      all_collectives(pe, from, to + results, count);
      synchronize(pe);
      expect_equal(read(pe, out, results), read(pe, out, results, results * sizeof(float)), "a step");
    }
    pe.ok(sparkgap_step_destroy(pe.world(), step), "destroy");
    pe.ok(sparkgap_free(pe.world(), in), "free");
    pe.ok(sparkgap_free(pe.world(), out), "free");
  }
}

void a_step_gives_the_same_bits_as_its_calls() { run_pes(world_of, expect_same_as_calls); }

void a_step_of_nccls_own_collectives_gives_the_same_bits_as_they() {
  if (std::strcmp(world_of.provider, "nccl") != 0) return;
  run_pes(world_of, [](const Pe& pe) {
    for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
      pe.ok(sparkgap_world_set_algorithm(pe.world(), collective, "default"), "set_algorithm");
    }
    expect_same_as_calls(pe);
  });
}

void fifty_small_sums_are_one_launch() {
  run_pes(world_of, [](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(64);
    auto* values = static_cast<float*>(sparkgap_buffer_address(buffer));
    sparkgap_step* step = record(pe, [&] {
      for (int i = 0; i < 50; ++i) {
        pe.ok(sparkgap_all_reduce(pe.world(), values, values, 16, SPARKGAP_FLOAT32, SPARKGAP_AVG), "all_reduce");
      }
    });
    const uint64_t before = sparkgap_world_calls(pe.world());
    for (int round = 0; round < 100; ++round) {
      write(pe, buffer, std::vector<float>(16, static_cast<float>(round + pe.pe())));
      run(pe, step);
      synchronize(pe);
      const float mean = static_cast<float>(round) + static_cast<float>(pe.pes() - 1) / 2;
      expect_equal(read(pe, buffer, 16), std::vector<float>(16, mean), "fifty means");
    }
    expect(sparkgap_world_calls(pe.world()) == before + 5000, "not all calls were counted");
  });
}

void one_sided_calls_are_part_of_a_step() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    sparkgap_world* world = pe.world();
    constexpr size_t kCount = 3000;
    constexpr uint64_t kBytes = kCount * sizeof(float);
    const int next = (pe.pe() + 1) % pe.pes();
    const int before = (pe.pe() + pe.pes() - 1) % pe.pes();
    sparkgap_buffer* data = pe.allocate(kBytes);
    sparkgap_buffer* source = pe.allocate(kBytes);
    sparkgap_buffer* back = pe.allocate(kBytes);
    sparkgap_buffer* signals = pe.allocate(64);
    sparkgap_step* step = record(pe, [&] {
      pe.ok(sparkgap_put_signal(world, data, 0, sparkgap_buffer_address(source), kBytes, signals, 8, 1,
                                SPARKGAP_SIGNAL_SET, next),
            "put_signal");
      pe.ok(sparkgap_wait_signal(world, signals, 8, SPARKGAP_EQ, 1, nullptr), "wait_signal");
      pe.ok(sparkgap_signal(world, signals, 8, 0, SPARKGAP_SIGNAL_SET, pe.pe()), "signal");
      pe.ok(sparkgap_barrier(world), "barrier");
      pe.ok(sparkgap_get(world, sparkgap_buffer_address(back), data, 0, kBytes, next), "get");
      pe.ok(sparkgap_fetch_add(world, signals, 16, 3, pe.pe(), nullptr), "fetch_add");
      pe.ok(sparkgap_barrier(world), "barrier");
    });
    for (int round = 1; round <= 5; ++round) {
      write(pe, source, elements(pe.pe() + round, kCount));
      run(pe, step);
      synchronize(pe);
      expect_equal(read(pe, data, kCount), elements(before + round, kCount), "put");
      expect_equal(read(pe, back, kCount), elements(pe.pe() + round, kCount), "get");
      int64_t total = 0;
      pe.ok(sparkgap_fetch_add(world, signals, 16, 0, pe.pe(), &total), "fetch_add");
      expect(total == 3 * round, "%lld added", static_cast<long long>(total));
    }
  });
}

// On the world's own stream and on one of the caller's, and run on another than it was recorded on.
void what_the_caller_enqueues_is_part_of_a_step() {
  run_pes(world_of, [](const Pe& pe) {
    constexpr size_t kCount = 5000;
    constexpr uint64_t kBytes = kCount * sizeof(float);
    sparkgap_buffer* buffer = pe.allocate(kBytes);
    auto* values = static_cast<float*>(sparkgap_buffer_address(buffer));
    void* weights = nullptr;
    cuda_ok(cudaMalloc(&weights, kBytes), "cudaMalloc");
    cudaStream_t mine = nullptr;
    cuda_ok(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking), "stream");
    const std::vector<float> own = elements(pe.pe(), kCount);
    cuda_ok(cudaMemcpy(weights, own.data(), kBytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    for (const cudaStream_t recorded_on : {cudaStream_t{nullptr}, mine}) {
      pe.ok(sparkgap_world_set_stream(pe.world(), recorded_on), "set_stream");
      const auto stream = static_cast<cudaStream_t>(sparkgap_world_stream(pe.world()));
      sparkgap_step* step = record(pe, [&] {
        cuda_ok(cudaMemcpyAsync(values, weights, kBytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
        sum(pe, values, kCount);
        cuda_ok(cudaMemsetAsync(values, 0, sizeof(float), stream), "cudaMemsetAsync");
        sum(pe, values, 1);
      });
      std::vector<float> expected = sum_of(pe.pes(), kCount);
      expected[0] = 0;
      for (const cudaStream_t run_on : {mine, cudaStream_t{nullptr}}) {
        pe.ok(sparkgap_world_set_stream(pe.world(), run_on), "set_stream");
        write(pe, buffer, std::vector<float>(kCount, -1.0f));
        run(pe, step);
        synchronize(pe);
        expect_equal(read(pe, buffer, kCount), expected, "a step with copies of the caller's");
      }
      pe.ok(sparkgap_step_destroy(pe.world(), step), "destroy");
    }
    pe.ok(sparkgap_world_set_stream(pe.world(), nullptr), "set_stream");
    cudaStreamDestroy(mine);
    cudaFree(weights);
  });
}

void what_cannot_be_recorded_is_refused_and_the_recording_goes_on() {
  run_pes(world_of, [](const Pe& pe) {
    sparkgap_world* world = pe.world();
    sparkgap_buffer* buffer = pe.allocate(64);
    auto* values = static_cast<float*>(sparkgap_buffer_address(buffer));
    std::vector<float> host(16, 1.0f);
    int64_t word = 0;
    sparkgap_step* step = record(pe, [&] {
      const auto refused = [&](sparkgap_status status, const std::vector<std::string>& parts) {
        expect_failure(world, status, SPARKGAP_INVALID_ARGUMENT, parts);
      };
      sparkgap_buffer* made = nullptr;
      sparkgap_event* event = nullptr;
      refused(sparkgap_all_reduce(world, host.data(), values, 16, SPARKGAP_FLOAT32, SPARKGAP_SUM), {"in", "host"});
      refused(sparkgap_all_reduce(world, values, host.data(), 16, SPARKGAP_FLOAT32, SPARKGAP_SUM), {"out", "host"});
      refused(sparkgap_put(world, buffer, 0, host.data(), 64, pe.pe()), {"host memory"});
      refused(sparkgap_get(world, host.data(), buffer, 0, 64, pe.pe()), {"host memory"});
      refused(sparkgap_wait_signal(world, buffer, 0, SPARKGAP_NE, 1, &word), {"waitSignal"});
      refused(sparkgap_fetch_add(world, buffer, 0, 1, pe.pe(), &word), {"fetchAdd"});
      refused(sparkgap_allocate(world, 8, &made), {"allocate"});
      refused(sparkgap_free(world, buffer), {"free"});
      refused(sparkgap_synchronize(world), {"synchronize"});
      refused(sparkgap_world_set_stream(world, nullptr), {"stream"});
      refused(sparkgap_event_create(world, &event), {"event"});
      refused(sparkgap_step_begin(world), {"a step cannot be part"});
      sum(pe, values, 16);
    });
    write(pe, buffer, host);
    run(pe, step);
    synchronize(pe);
    expect_equal(read(pe, buffer, 16), std::vector<float>(16, static_cast<float>(pe.pes())), "the sum");
    expect_failure(world, sparkgap_free(world, buffer), SPARKGAP_INVALID_ARGUMENT, {"is used by step 1"});
    pe.ok(sparkgap_step_destroy(world, step), "destroy");
    pe.ok(sparkgap_free(world, buffer), "free");
  });
}

// A wait for a stream in capture is what CUDA punishes with the end of the capture.
void a_capture_that_the_caller_breaks_is_refused_and_the_world_goes_on() {
  run_pes(world_of, [](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(64);
    auto* values = static_cast<float*>(sparkgap_buffer_address(buffer));
    pe.ok(sparkgap_step_begin(pe.world()), "begin");
    sum(pe, values, 16);
    const auto stream = static_cast<cudaStream_t>(sparkgap_world_stream(pe.world()));
    expect(cudaStreamSynchronize(stream) != cudaSuccess, "a stream in capture was waited for");
    cudaGetLastError();
    expect_failure(pe.world(), sparkgap_all_reduce(pe.world(), values, values, 16, SPARKGAP_FLOAT32, SPARKGAP_SUM),
                   SPARKGAP_INVALID_ARGUMENT, {"CUDA error"});
    sparkgap_step* step = nullptr;
    expect_failure(pe.world(), sparkgap_step_end(pe.world(), &step), SPARKGAP_INVALID_ARGUMENT, {"capture"});
    write(pe, buffer, std::vector<float>(16, 1.0f));
    sum(pe, values, 16);
    pe.ok(sparkgap_step_begin(pe.world()), "begin");
    sum(pe, values, 16);
    pe.ok(sparkgap_step_drop(pe.world()), "drop");
    synchronize(pe);
    expect_equal(read(pe, buffer, 16), std::vector<float>(16, static_cast<float>(pe.pes())), "the sum");
    pe.ok(sparkgap_step_begin(pe.world()), "begin, until the world ends");
  });
}

void steps_that_differ_are_told() {
  if (has_no_peer()) return;
  for (const bool check : {false, true}) {
    Pes pes = world_of;
    pes.check = check;
    run_pes(pes, [check](const Pe& pe) {
      sparkgap_buffer* buffer = pe.allocate(4000);
      auto* values = static_cast<float*>(sparkgap_buffer_address(buffer));
      sparkgap_step* step = record(pe, [&] {
        sum(pe, values, 100);
        sum(pe, values, pe.pe() == 1 ? 10 : 20);
        sum(pe, values, 100);
      });
      sparkgap_status status = sparkgap_step_run(pe.world(), step);
      if (status == SPARKGAP_OK) status = sparkgap_synchronize(pe.world());
      std::vector<std::string> parts = {"allReduce"};
      if (check) parts = {"call 2 of 3, allReduce float32 x ", "of step 1", "float32 x 10", "float32 x 20"};
      expect_failure(pe.world(), status, SPARKGAP_MISMATCH, parts);
    });
  }
}

void a_pe_that_does_not_come_is_named_with_the_call_of_the_step() {
  if (has_no_peer()) return;
  Pes pes = world_of;
  pes.peer_timeout_ms = 4000;
  const Shared<std::atomic<int>> ended;
  run_pes(pes, [&](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(4000);
    auto* values = static_cast<float*>(sparkgap_buffer_address(buffer));
    sparkgap_step* step = record(pe, [&] {
      for (int i = 0; i < 3; ++i) sum(pe, values, 100);
    });
    if (pe.pe() == 1) {
      sum(pe, values, 100);
      sum(pe, values, 100);
      while (ended->load() < pe.pes() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return;
    }
    sparkgap_status status = sparkgap_step_run(pe.world(), step);
    if (status == SPARKGAP_OK) status = sparkgap_synchronize(pe.world());
    ended->fetch_add(1);
    // With more than two PEs another may have been the first to tell.
    expect_failure(pe.world(), status, SPARKGAP_TIMED_OUT, {"allReduce (call 3 of step 1)", "4000 ms"});
  });
}

void an_abort_ends_a_step_in_the_call_that_it_is_in() {
  if (has_no_peer()) return;
  run_pes(world_of, [](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(64);
    auto* values = static_cast<float*>(sparkgap_buffer_address(buffer));
    if (pe.pe() == 1) {
      sum(pe, values, 4);
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      sparkgap_world_abort(pe.world(), "enough");
      return;
    }
    sparkgap_step* step = record(pe, [&] {
      sum(pe, values, 4);
      pe.ok(sparkgap_wait_signal(pe.world(), buffer, 32, SPARKGAP_EQ, 1, nullptr), "wait_signal");
    });
    sparkgap_status status = sparkgap_step_run(pe.world(), step);
    if (status == SPARKGAP_OK) status = sparkgap_synchronize(pe.world());
    expect_failure(pe.world(), status, SPARKGAP_ABORTED, {"in waitSignal (call 2 of step 1): ", "enough"});
  });
}

}  // namespace

std::vector<Test> tests_of_steps() {
  return {
      {"a_step_gives_the_same_bits_as_its_calls", a_step_gives_the_same_bits_as_its_calls},
      {"a_step_of_nccls_own_collectives_gives_the_same_bits_as_they",
       a_step_of_nccls_own_collectives_gives_the_same_bits_as_they},
      {"fifty_small_sums_are_one_launch", fifty_small_sums_are_one_launch},
      {"one_sided_calls_are_part_of_a_step", one_sided_calls_are_part_of_a_step},
      {"what_the_caller_enqueues_is_part_of_a_step", what_the_caller_enqueues_is_part_of_a_step},
      {"what_cannot_be_recorded_is_refused_and_the_recording_goes_on",
       what_cannot_be_recorded_is_refused_and_the_recording_goes_on},
      {"a_capture_that_the_caller_breaks_is_refused_and_the_world_goes_on",
       a_capture_that_the_caller_breaks_is_refused_and_the_world_goes_on},
      {"steps_that_differ_are_told", steps_that_differ_are_told},
      {"a_pe_that_does_not_come_is_named_with_the_call_of_the_step",
       a_pe_that_does_not_come_is_named_with_the_call_of_the_step},
      {"an_abort_ends_a_step_in_the_call_that_it_is_in", an_abort_ends_a_step_in_the_call_that_it_is_in},
  };
}

}  // namespace sparkgap::test
