// Worlds of GPUs through the C interface, PEs as processes, for any number of GPUs: with fewer GPUs than PEs several
// PEs share one, for which MPS has to run, and provider nccl is left out. Needs a GPU; run by hand or by bench/gpu:
//   gpu_world_test [--pes N] [--provider nvshmem|nccl] [TEST...]
#include <cuda_runtime_api.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "protocol/expect_failure.h"
#include "support/check.h"
#include "support/pes.h"

namespace sparkgap::test {
namespace {

int gpus_here = 0;
Pes world_of;  // provider, PEs and GPUs of this run

// In a child, for a process that has used CUDA cannot fork any more.
int count_gpus() {
  const Shared<int> count;
  run_pes({1, Placement::kProcesses, false, 60, 20000, 1, "host", 0, false, false}, [&](const Pe&) {
    sparkgap_device_info info;
    char message[2000];
    while (sparkgap_device_open(count[0], &info, message, sizeof message) == SPARKGAP_OK) {
      std::printf("GPU %d: %s %s %s, driver %s\n", info.ordinal, info.name, info.pci, info.uuid, info.driver);
      ++count[0];
    }
    if (count[0] == 0) std::printf("%s\n", message);
    std::fflush(stdout);
  });
  return count[0];
}

void cuda_ok(cudaError_t error, const char* what) {
  expect(error == cudaSuccess, "%s: %s", what, cudaGetErrorString(error));
}

void synchronize(const Pe& pe) { pe.ok(sparkgap_synchronize(pe.world()), "sparkgap_synchronize"); }

std::vector<float> read(const Pe& pe, sparkgap_buffer* buffer, size_t count, uint64_t offset = 0) {
  std::vector<float> values(count);
  pe.ok(sparkgap_get(pe.world(), values.data(), buffer, offset, count * sizeof(float), pe.pe()), "sparkgap_get");
  return values;
}

void write(const Pe& pe, sparkgap_buffer* buffer, const std::vector<float>& values, uint64_t offset = 0) {
  pe.ok(sparkgap_put(pe.world(), buffer, offset, values.data(), values.size() * sizeof(float), pe.pe()),
        "sparkgap_put");
}

// Element i of PE `pe`; sums of these over PEs are exact.
float element(int pe, size_t i) { return static_cast<float>((pe + 1) * 1000 + static_cast<int>(i % 997)); }

std::vector<float> elements(int pe, size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = element(pe, i);
  return values;
}

std::vector<float> sum_of(int pes, size_t count) {
  std::vector<float> sums(count);
  for (int pe = 0; pe < pes; ++pe) {
    for (size_t i = 0; i < count; ++i) sums[i] += element(pe, i);
  }
  return sums;
}

void expect_equal(const std::vector<float>& actual, const std::vector<float>& expected, const char* what) {
  for (size_t i = 0; i < expected.size(); ++i) {
    expect(actual[i] == expected[i], "%s: element %zu is %g, not %g", what, i, static_cast<double>(actual[i]),
           static_cast<double>(expected[i]));
  }
}

void a_symmetric_buffer_is_reduced_in_place() {
  run_pes(world_of, [](const Pe& pe) {
    for (const size_t count : {size_t{1}, size_t{1000}, size_t{1} << 20}) {
      sparkgap_buffer* buffer = pe.allocate(count * sizeof(float));
      expect_equal(read(pe, buffer, count), std::vector<float>(count), "new memory");
      write(pe, buffer, elements(pe.pe(), count));
      void* address = sparkgap_buffer_address(buffer);
      pe.ok(sparkgap_all_reduce(pe.world(), address, address, count, SPARKGAP_FLOAT32, SPARKGAP_SUM), "all_reduce");
      synchronize(pe);
      expect_equal(read(pe, buffer, count), sum_of(pe.pes(), count), sparkgap_world_describe(pe.world()));
      pe.ok(sparkgap_free(pe.world(), buffer), "sparkgap_free");
    }
  });
}

struct Ids {
  std::atomic<int> made;
  uint8_t bytes[8][SPARKGAP_WORLD_ID_BYTES];
};

// Connects the world number `number` of a run, whose ids go through memory that the processes share.
void connect(sparkgap_world* world, int pe, Ids& ids, int number) {
  if (pe == 0) {
    expect(sparkgap_world_id(world, ids.bytes[number]) == SPARKGAP_OK, "id: %s", sparkgap_last_error(world));
    ids.made.store(number + 1);
  }
  while (ids.made.load() <= number) std::this_thread::sleep_for(std::chrono::microseconds(100));
  const sparkgap_status status = sparkgap_world_connect(world, ids.bytes[number]);
  expect(status == SPARKGAP_OK, "connect of world %d: %s", number, sparkgap_last_error(world));
}

void worlds_follow_one_another_with_other_pe_numbers() {
  const Shared<Ids> ids;
  Pes pes = world_of;
  pes.has_world = false;
  run_pes(pes, [&](const Pe& process) {
    for (int number = 0; number < 3; ++number) {
      Pes next = world_of;
      next.epoch = static_cast<uint64_t>(number) + 1;
      const int pe = (process.pe() + number) % process.pes();
      sparkgap_world_options options = options_of(next, pe, "test PE");
      options.device = process.pe() % world_of.gpus;  // the process keeps its GPU
      sparkgap_world* world = nullptr;
      const sparkgap_status created = sparkgap_world_create(&options, &world);
      expect(created == SPARKGAP_OK, "create: %s", sparkgap_last_error(world));
      const auto start = std::chrono::steady_clock::now();
      connect(world, pe, *ids.operator->(), number);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      if (pe == 0) std::printf("     connected in %.3f s: %s\n", took.count(), sparkgap_world_describe(world));
      std::fflush(stdout);
      const Pe end(world, pe, process.pes());
      std::vector<float> values = elements(pe, 500);
      end.ok(sparkgap_all_reduce(world, values.data(), values.data(), 500, SPARKGAP_FLOAT32, SPARKGAP_SUM),
             "all_reduce");
      expect_equal(values, sum_of(end.pes(), 500), "sum");
      sparkgap_world_destroy(world);
    }
  });
}

void a_second_world_in_a_process_is_refused() {
  run_pes(world_of, [](const Pe& pe) {
    const sparkgap_world_options options = options_of(world_of, pe.pe(), "second");
    sparkgap_world* second = nullptr;
    const sparkgap_status status = sparkgap_world_create(&options, &second);
    expect_failure(second, status, SPARKGAP_UNAVAILABLE, {"one PE of one GPU world at a time", world_of.provider});
    sparkgap_world_destroy(second);
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    synchronize(pe);
  });
}

void two_pes_on_one_gpu_are_refused_by_name() {
  Pes pes = world_of;
  pes.count = 2;
  pes.gpus = 1;
  pes.device_shared = false;
  try {
    run_pes(pes, [](const Pe&) {});
  } catch (const Failure& failure) {
    const std::string text = failure.what();
    for (const char* part :
         {"PE 0 (test PE 0) and PE 1 (test PE 1) are on one GPU", "GPU-", "spark.executor.resource.gpu"}) {
      expect(text.find(part) != std::string::npos, "\"%s\" is not in: %s", part, text.c_str());
    }
    return;
  }
  expect(false, "two PEs on one GPU made a world");
}

void links_are_those_of_the_gpus() {
  run_pes(world_of, [](const Pe& pe) {
    for (int a = 0; a < pe.pes(); ++a) {
      for (int b = 0; b < pe.pes(); ++b) {
        const int32_t link = sparkgap_world_link(pe.world(), a, b);
        const bool one_gpu = a % world_of.gpus == b % world_of.gpus;
        expect((link == SPARKGAP_LINK_SHM) == one_gpu, "PEs %d and %d: link %d", a, b, link);
        expect(link == sparkgap_world_link(pe.world(), b, a), "PEs %d and %d: the order matters", a, b);
      }
    }
    if (pe.pe() == 0) std::printf("     %s\n", sparkgap_world_describe(pe.world()));
    std::fflush(stdout);
  });
}

void one_sided_calls_reach_the_next_pe() {
  run_pes(world_of, [](const Pe& pe) {
    sparkgap_world* world = pe.world();
    constexpr size_t kCount = 3000;
    const int next = (pe.pe() + 1) % pe.pes();
    const int before = (pe.pe() + pe.pes() - 1) % pe.pes();
    sparkgap_buffer* data = pe.allocate(kCount * sizeof(float));
    sparkgap_buffer* source = pe.allocate(kCount * sizeof(float));
    sparkgap_buffer* signals = pe.allocate(64);
    write(pe, source, elements(pe.pe(), kCount));
    pe.ok(sparkgap_put_signal(world, data, 0, sparkgap_buffer_address(source), kCount * sizeof(float), signals, 8, 7,
                              SPARKGAP_SIGNAL_SET, next),
          "put_signal");
    int64_t observed = 0;
    pe.ok(sparkgap_wait_signal(world, signals, 8, SPARKGAP_EQ, 7, &observed), "wait_signal");
    expect(observed == 7, "signal %lld", static_cast<long long>(observed));
    expect_equal(read(pe, data, kCount), elements(before, kCount), "put");

    // The signal came from the PE before; the next one may not have written yet.
    pe.ok(sparkgap_barrier(world), "barrier");
    synchronize(pe);
    std::vector<float> theirs(kCount);
    pe.ok(sparkgap_get(world, theirs.data(), source, 0, kCount * sizeof(float), next), "get");
    expect_equal(theirs, elements(next, kCount), "get");
    pe.ok(sparkgap_get(world, sparkgap_buffer_address(data), source, 4, 400, next), "get into device memory");
    synchronize(pe);
    expect(read(pe, data, 100)[0] == element(next, 1), "get at an offset");

    for (int i = 0; i < 10; ++i) {
      pe.ok(sparkgap_fetch_add(world, signals, 16, 1, 0, nullptr), "fetch_add");
      pe.ok(sparkgap_signal(world, signals, 24, 2, SPARKGAP_SIGNAL_ADD, 0), "signal");
    }
    pe.ok(sparkgap_barrier(world), "barrier");
    synchronize(pe);
    pe.ok(sparkgap_barrier(world), "barrier");
    int64_t total = -1;
    pe.ok(sparkgap_fetch_add(world, signals, 16, 0, 0, &total), "fetch_add");
    expect(total == 10 * pe.pes(), "%lld added", static_cast<long long>(total));
    pe.ok(sparkgap_fetch_add(world, signals, 24, 0, 0, &total), "fetch_add");
    expect(total == 20 * pe.pes(), "%lld signalled", static_cast<long long>(total));
  });
}

void memory_that_is_freed_is_used_again() {
  run_pes(world_of, [](const Pe& pe) {
    // 80 times 2 GiB do not fit on any GPU, so they must have been freed in between.
    for (int i = 0; i < 80; ++i) {
      sparkgap_buffer* buffer = pe.allocate(uint64_t{2} << 30);
      pe.ok(sparkgap_free(pe.world(), buffer), "sparkgap_free");
    }
  });
}

void more_than_the_gpu_has_is_refused_and_the_world_goes_on() {
  run_pes(world_of, [](const Pe& pe) {
    sparkgap_buffer* buffer = nullptr;
    const sparkgap_status status = sparkgap_allocate(pe.world(), uint64_t{1} << 42, &buffer);
    expect_failure(pe.world(), status, SPARKGAP_OUT_OF_MEMORY, {"free"});
    expect(buffer == nullptr, "a buffer was given");
    pe.allocate(1000);
  });
}

// Every collective with host memory, small enough for pinned memory and too large for it.
void expect_all_collectives_on_host_memory(const Pe& pe) {
  sparkgap_world* world = pe.world();
  const size_t pes = static_cast<size_t>(pe.pes());
  for (const size_t count : {size_t{0}, size_t{3}, size_t{4096}, size_t{1} << 20}) {
    std::vector<float> in = elements(pe.pe(), count * pes);
    std::vector<float> out(count * pes);
    pe.ok(sparkgap_all_reduce(world, in.data(), out.data(), count, SPARKGAP_FLOAT32, SPARKGAP_SUM), "all_reduce");
    expect_equal(out, sum_of(pe.pes(), count), "all_reduce");
    pe.ok(sparkgap_reduce_scatter(world, in.data(), out.data(), count, SPARKGAP_FLOAT32, SPARKGAP_SUM),
          "reduce_scatter");
    const std::vector<float> all = sum_of(pe.pes(), count * pes);
    expect_equal(out, {all.begin() + pe.pe() * count, all.begin() + (pe.pe() + 1) * count}, "reduce_scatter");
    pe.ok(sparkgap_all_gather(world, in.data(), out.data(), count, SPARKGAP_FLOAT32), "all_gather");
    for (size_t from = 0; from < pes; ++from) {
      expect_equal({out.begin() + from * count, out.begin() + (from + 1) * count},
                   elements(static_cast<int>(from), count), "all_gather");
    }
    const int root = pe.pes() - 1;
    pe.ok(sparkgap_broadcast(world, pe.pe() == root ? in.data() : nullptr, out.data(), count, SPARKGAP_FLOAT32, root),
          "broadcast");
    expect_equal(out, elements(root, count), "broadcast");
    pe.ok(sparkgap_reduce(world, in.data(), pe.pe() == root ? out.data() : nullptr, count, SPARKGAP_FLOAT32,
                          SPARKGAP_SUM, root),
          "reduce");
    if (pe.pe() == root) expect_equal(out, sum_of(pe.pes(), count), "reduce");
    pe.ok(sparkgap_all_to_all(world, in.data(), out.data(), count, SPARKGAP_FLOAT32), "all_to_all");
    for (size_t from = 0; from < pes; ++from) {
      const std::vector<float> sent = elements(static_cast<int>(from), count * pes);
      expect_equal({out.begin() + from * count, out.begin() + (from + 1) * count},
                   {sent.begin() + pe.pe() * count, sent.begin() + (pe.pe() + 1) * count}, "all_to_all");
    }
  }
}

void host_memory_is_staged() { run_pes(world_of, expect_all_collectives_on_host_memory); }

void nccls_own_collectives_do_the_same() {
  if (std::strcmp(world_of.provider, "nccl") != 0) {
    std::printf("     left out: the provider is %s\n", world_of.provider);
    return;
  }
  run_pes(world_of, [](const Pe& pe) {
    sparkgap_world* world = pe.world();
    for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
      pe.ok(sparkgap_world_set_algorithm(world, collective, "default"), "set_algorithm");
    }
    expect_all_collectives_on_host_memory(pe);
    const size_t count = 1000;
    const size_t pes = static_cast<size_t>(pe.pes());
    sparkgap_buffer* buffer = pe.allocate(pes * count * sizeof(float));
    void* address = sparkgap_buffer_address(buffer);
    write(pe, buffer, elements(pe.pe(), pes * count));
    pe.ok(sparkgap_all_to_all(world, address, address, count, SPARKGAP_FLOAT32), "all_to_all in place");
    pe.ok(sparkgap_barrier(world), "barrier");
    synchronize(pe);
    const std::vector<float> received = read(pe, buffer, pes * count);
    for (size_t from = 0; from < pes; ++from) {
      const std::vector<float> sent = elements(static_cast<int>(from), pes * count);
      expect_equal({received.begin() + from * count, received.begin() + (from + 1) * count},
                   {sent.begin() + pe.pe() * count, sent.begin() + (pe.pe() + 1) * count}, "all_to_all in place");
    }
  });
}

void a_ring_is_taken_where_it_is_asked_for() {
  run_pes(world_of, [](const Pe& pe) {
    sparkgap_world* world = pe.world();
    pe.ok(sparkgap_world_set_algorithm(world, SPARKGAP_ALL_REDUCE, "ring"), "set_algorithm");
    const std::string route = sparkgap_route(world, SPARKGAP_ALL_REDUCE, 1000, SPARKGAP_FLOAT32);
    expect(route == std::string(world_of.provider) + "/ring", "the route is %s", route.c_str());
    for (const size_t count : {size_t{3}, size_t{8} << 20}) {
      sparkgap_buffer* buffer = pe.allocate(count * sizeof(float));
      write(pe, buffer, elements(pe.pe(), count));
      void* address = sparkgap_buffer_address(buffer);
      pe.ok(sparkgap_all_reduce(world, address, address, count, SPARKGAP_FLOAT32, SPARKGAP_SUM), "all_reduce");
      synchronize(pe);
      expect_equal(read(pe, buffer, count), sum_of(pe.pes(), count), "ring");
    }
  });
}

void blocks_of_all_to_allv_leave_what_lies_between_alone() {
  run_pes(world_of, [](const Pe& pe) {
    const size_t pes = static_cast<size_t>(pe.pes());
    // PE i sends i + 1 elements to everyone; between blocks lie gaps of three.
    std::vector<uint64_t> send_counts(pes, static_cast<uint64_t>(pe.pe()) + 1);
    std::vector<uint64_t> send_offsets(pes);
    std::vector<uint64_t> receive_counts(pes);
    std::vector<uint64_t> receive_offsets(pes);
    uint64_t end = 2;
    for (size_t i = 0; i < pes; ++i) {
      send_offsets[i] = 5 + i * 20;
      receive_counts[i] = i + 1;
      receive_offsets[i] = end;
      end += receive_counts[i] + 3;
    }
    const std::vector<float> in = elements(pe.pe(), 5 + pes * 20);
    std::vector<float> out(end, -1.0f);
    std::vector<float> expected = out;
    for (size_t from = 0; from < pes; ++from) {
      for (size_t i = 0; i <= from; ++i) {
        expected[receive_offsets[from] + i] =
            element(static_cast<int>(from), 5 + static_cast<size_t>(pe.pe()) * 20 + i);
      }
    }
    pe.ok(sparkgap_all_to_allv(pe.world(), in.data(), send_counts.data(), send_offsets.data(), out.data(),
                               receive_counts.data(), receive_offsets.data(), SPARKGAP_FLOAT32),
          "all_to_allv");
    expect_equal(out, expected, "all_to_allv");
  });
}

void pes_may_differ_in_the_memory_that_they_give() {
  run_pes(world_of, [](const Pe& pe) {
    for (const size_t count : {size_t{100}, size_t{1} << 20}) {
      sparkgap_buffer* symmetric = pe.allocate(count * sizeof(float));
      write(pe, symmetric, elements(pe.pe(), count));
      std::vector<float> host = elements(pe.pe(), count);
      void* own = nullptr;
      cuda_ok(cudaMalloc(&own, count * sizeof(float)), "cudaMalloc");
      cuda_ok(cudaMemcpy(own, host.data(), count * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
      void* const memory[] = {host.data(), own, sparkgap_buffer_address(symmetric)};
      void* mine = memory[pe.pe() % 3];
      pe.ok(sparkgap_all_reduce(pe.world(), mine, mine, count, SPARKGAP_FLOAT32, SPARKGAP_SUM), "all_reduce");
      synchronize(pe);
      std::vector<float> result(count);
      cuda_ok(cudaMemcpy(result.data(), mine, count * sizeof(float), cudaMemcpyDefault), "cudaMemcpy");
      expect_equal(result, sum_of(pe.pes(), count), "all_reduce");
      cudaFree(own);
    }
  });
}

void a_graph_of_collectives_is_replayed() {
  run_pes(world_of, [](const Pe& pe) {
    constexpr size_t kCount = 2000;
    sparkgap_world* world = pe.world();
    sparkgap_buffer* buffer = pe.allocate(kCount * sizeof(float));
    void* address = sparkgap_buffer_address(buffer);
    cudaStream_t stream = nullptr;
    cuda_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    synchronize(pe);
    pe.ok(sparkgap_world_set_stream(world, stream), "set_stream");
    expect(sparkgap_world_stream(world) == stream, "another stream");
    cuda_ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin capture");
    for (int i = 0; i < 2; ++i) {
      pe.ok(sparkgap_all_reduce(world, address, address, kCount, SPARKGAP_FLOAT32, SPARKGAP_AVG), "all_reduce");
    }
    cudaGraph_t graph = nullptr;
    cuda_ok(cudaStreamEndCapture(stream, &graph), "end capture");
    cudaGraphExec_t executable = nullptr;
    cuda_ok(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
    for (int round = 0; round < 20; ++round) {
      write(pe, buffer, std::vector<float>(kCount, static_cast<float>(round + pe.pe())));
      cuda_ok(cudaGraphLaunch(executable, stream), "launch");
      synchronize(pe);
      const float mean = static_cast<float>(round) + static_cast<float>(pe.pes() - 1) / 2;
      expect_equal(read(pe, buffer, kCount), std::vector<float>(kCount, mean), "replay");
    }
    pe.ok(sparkgap_world_set_stream(world, nullptr), "set_stream");
    expect(sparkgap_world_stream(world) != stream, "not the world's own stream");
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
  });
}

void a_new_stream_waits_for_the_old_one() {
  run_pes(world_of, [](const Pe& pe) {
    constexpr size_t kCount = size_t{8} << 20;
    sparkgap_buffer* buffer = pe.allocate(kCount * sizeof(float));
    void* address = sparkgap_buffer_address(buffer);
    cudaStream_t streams[2];
    for (cudaStream_t& stream : streams) cuda_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    write(pe, buffer, std::vector<float>(kCount, 1.0f));
    float expected = 1.0f;
    for (int i = 0; i < 6; ++i) {
      pe.ok(sparkgap_world_set_stream(pe.world(), streams[i % 2]), "set_stream");
      pe.ok(sparkgap_all_reduce(pe.world(), address, address, kCount, SPARKGAP_FLOAT32, SPARKGAP_SUM), "all_reduce");
      expected *= static_cast<float>(pe.pes());
    }
    synchronize(pe);
    expect_equal(read(pe, buffer, kCount), std::vector<float>(kCount, expected), "six sums");
    pe.ok(sparkgap_world_set_stream(pe.world(), nullptr), "set_stream");
    for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
  });
}

void events_are_recorded_waited_for_and_compared() {
  run_pes(world_of, [](const Pe& pe) {
    sparkgap_world* world = pe.world();
    constexpr size_t kCount = size_t{1} << 20;
    sparkgap_buffer* buffer = pe.allocate(kCount * sizeof(float));
    void* address = sparkgap_buffer_address(buffer);
    sparkgap_event* start = nullptr;
    sparkgap_event* end = nullptr;
    pe.ok(sparkgap_event_create(world, &start), "event_create");
    pe.ok(sparkgap_event_create(world, &end), "event_create");
    double microseconds = -1;
    expect_failure(world, sparkgap_event_elapsed_us(world, start, end, &microseconds), SPARKGAP_INVALID_ARGUMENT,
                   {"recorded"});
    pe.ok(sparkgap_event_record(world, start), "event_record");
    pe.ok(sparkgap_all_reduce(world, address, address, kCount, SPARKGAP_FLOAT32, SPARKGAP_SUM), "all_reduce");
    pe.ok(sparkgap_event_record(world, end), "event_record");
    pe.ok(sparkgap_event_wait(world, end), "event_wait");
    pe.ok(sparkgap_event_synchronize(world, end), "event_synchronize");
    pe.ok(sparkgap_event_elapsed_us(world, start, end, &microseconds), "event_elapsed_us");
    expect(microseconds > 0, "%f us", microseconds);
    sparkgap_event_destroy(start);
    sparkgap_event_destroy(end);
  });
}

bool has_no_peer() {
  if (world_of.count == 1) std::printf("     left out: there is one PE\n");
  return world_of.count == 1;
}

void an_abort_ends_a_wait_on_the_gpu() {
  if (has_no_peer()) return;
  run_pes(world_of, [](const Pe& pe) {
    sparkgap_buffer* signals = pe.allocate(8);
    if (pe.pe() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      sparkgap_world_abort(pe.world(), "enough");
      expect_failure(pe.world(), sparkgap_synchronize(pe.world()), SPARKGAP_ABORTED, {"enough"});
      return;
    }
    const sparkgap_status status = sparkgap_wait_signal(pe.world(), signals, 0, SPARKGAP_EQ, 1, nullptr);
    expect(status == SPARKGAP_OK || status == SPARKGAP_ABORTED, "status %d", status);
    expect_failure(pe.world(), sparkgap_synchronize(pe.world()), SPARKGAP_ABORTED, {"PE 1 (test PE 1)", "enough"});
  });
}

void a_pe_that_does_not_come_is_named_at_the_deadline() {
  if (has_no_peer()) return;
  Pes pes = world_of;
  pes.peer_timeout_ms = 4000;
  const Shared<std::atomic<int>> ended;
  run_pes(pes, [&](const Pe& pe) {
    if (pe.pe() == 1) {
      while (ended->load() < pe.pes() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return;
    }
    std::vector<float> values(100);
    sparkgap_status status =
        sparkgap_all_reduce(pe.world(), values.data(), values.data(), 100, SPARKGAP_FLOAT32, SPARKGAP_SUM);
    if (status == SPARKGAP_OK) status = sparkgap_synchronize(pe.world());
    ended->fetch_add(1);
    expect_failure(pe.world(), status, SPARKGAP_TIMED_OUT, {"allReduce", "4000 ms", "spark.sparkgap.peer.timeout"});
  });
}

void a_pe_that_is_killed_ends_the_waits_of_the_others() {
  if (has_no_peer()) return;
  Pes pes = world_of;
  const Shared<std::atomic<int>> ended;
  try {
    run_pes(pes, [&](const Pe& pe) {
      sparkgap_buffer* buffer = pe.allocate(4000);
      void* address = sparkgap_buffer_address(buffer);
      pe.ok(sparkgap_all_reduce(pe.world(), address, address, 1000, SPARKGAP_FLOAT32, SPARKGAP_SUM), "all_reduce");
      synchronize(pe);
      if (pe.pe() == 1) kill(getpid(), SIGKILL);
      sparkgap_status status = sparkgap_all_reduce(pe.world(), address, address, 1000, SPARKGAP_FLOAT32, SPARKGAP_SUM);
      if (status == SPARKGAP_OK) status = sparkgap_synchronize(pe.world());
      ended->fetch_add(1);
      expect_failure(pe.world(), status, SPARKGAP_PEER_LOST, {"PE 1 (test PE 1"});
    });
  } catch (const Failure& failure) {
    expect(ended->load() == pes.count - 1, "only %d PEs came back: %s", ended->load(), failure.what());
    const std::string text = failure.what();
    expect(text.find("Killed") != std::string::npos && text.find("is not in") == std::string::npos &&
               text.find("status") == std::string::npos,
           "%s", failure.what());
    return;
  }
  expect(false, "no PE was killed");
}

void calls_that_differ_are_told_apart() {
  if (has_no_peer()) return;
  Pes pes = world_of;
  pes.check = true;
  run_pes(pes, [](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(4000);
    void* address = sparkgap_buffer_address(buffer);
    const uint64_t count = pe.pe() == 1 ? 10 : 20;
    const sparkgap_status status =
        sparkgap_all_reduce(pe.world(), address, address, count, SPARKGAP_FLOAT32, SPARKGAP_SUM);
    expect_failure(pe.world(), status, SPARKGAP_MISMATCH, {"float32 x 10", "float32 x 20"});
  });
}

// Last, for it ends with a GPU that some process has broken: not under MPS, where others would suffer.
void a_sticky_error_says_that_the_process_must_go() {
  Pes pes = world_of;
  pes.count = 1;
  if (gpus_here < world_of.count) {
    std::printf("     left out: PEs share a GPU\n");
    return;
  }
  run_pes(pes, [](const Pe& pe) {
    void* freed = nullptr;
    cuda_ok(cudaMalloc(&freed, 64 << 20), "cudaMalloc");
    pe.ok(sparkgap_all_reduce(pe.world(), freed, freed, 1 << 20, SPARKGAP_FLOAT32, SPARKGAP_SUM), "all_reduce");
    synchronize(pe);
    cudaFree(freed);
    sparkgap_status status = sparkgap_all_reduce(pe.world(), freed, freed, 1 << 20, SPARKGAP_FLOAT32, SPARKGAP_SUM);
    if (status == SPARKGAP_OK) status = sparkgap_synchronize(pe.world());
    expect_failure(pe.world(), status, SPARKGAP_DEVICE_FAILED, {"must be replaced"});
    expect(sparkgap_world_health(pe.world()) == SPARKGAP_DEVICE_FAILED, "the world is healthy");
  });
}

const std::vector<Test> kTests = {
    {"a_symmetric_buffer_is_reduced_in_place", a_symmetric_buffer_is_reduced_in_place},
    {"worlds_follow_one_another_with_other_pe_numbers", worlds_follow_one_another_with_other_pe_numbers},
    {"a_second_world_in_a_process_is_refused", a_second_world_in_a_process_is_refused},
    {"two_pes_on_one_gpu_are_refused_by_name", two_pes_on_one_gpu_are_refused_by_name},
    {"links_are_those_of_the_gpus", links_are_those_of_the_gpus},
    {"one_sided_calls_reach_the_next_pe", one_sided_calls_reach_the_next_pe},
    {"memory_that_is_freed_is_used_again", memory_that_is_freed_is_used_again},
    {"more_than_the_gpu_has_is_refused_and_the_world_goes_on", more_than_the_gpu_has_is_refused_and_the_world_goes_on},
    {"host_memory_is_staged", host_memory_is_staged},
    {"nccls_own_collectives_do_the_same", nccls_own_collectives_do_the_same},
    {"a_ring_is_taken_where_it_is_asked_for", a_ring_is_taken_where_it_is_asked_for},
    {"blocks_of_all_to_allv_leave_what_lies_between_alone", blocks_of_all_to_allv_leave_what_lies_between_alone},
    {"pes_may_differ_in_the_memory_that_they_give", pes_may_differ_in_the_memory_that_they_give},
    {"a_graph_of_collectives_is_replayed", a_graph_of_collectives_is_replayed},
    {"a_new_stream_waits_for_the_old_one", a_new_stream_waits_for_the_old_one},
    {"events_are_recorded_waited_for_and_compared", events_are_recorded_waited_for_and_compared},
    {"an_abort_ends_a_wait_on_the_gpu", an_abort_ends_a_wait_on_the_gpu},
    {"a_pe_that_does_not_come_is_named_at_the_deadline", a_pe_that_does_not_come_is_named_at_the_deadline},
    {"a_pe_that_is_killed_ends_the_waits_of_the_others", a_pe_that_is_killed_ends_the_waits_of_the_others},
    {"calls_that_differ_are_told_apart", calls_that_differ_are_told_apart},
    {"a_sticky_error_says_that_the_process_must_go", a_sticky_error_says_that_the_process_must_go},
};

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  std::vector<std::string> providers = {"nvshmem", "nccl"};
  int pes = 2;
  std::vector<char*> names = {argv[0]};
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--pes") == 0 && i + 1 < argc) {
      pes = std::atoi(argv[++i]);
    } else if (std::strcmp(argv[i], "--provider") == 0 && i + 1 < argc) {
      providers = {argv[++i]};
    } else {
      names.push_back(argv[i]);
    }
  }
  gpus_here = count_gpus();
  if (gpus_here == 0) return 1;
  int failed = 0;
  for (const std::string& provider : providers) {
    if (provider == "nccl" && gpus_here < pes) {
      std::printf("provider nccl is left out: it needs a GPU for each of %d PEs, and there are %d\n", pes, gpus_here);
      continue;
    }
    std::printf("provider %s, %d PEs on %d GPUs\n", provider.c_str(), pes, std::min(pes, gpus_here));
    std::fflush(stdout);
    world_of = {};
    world_of.count = pes;
    world_of.provider = provider.c_str();
    world_of.gpus = std::min(pes, gpus_here);
    world_of.device_shared = gpus_here < pes;
    failed |= run_tests(static_cast<int>(names.size()), names.data(), kTests);
  }
  return failed;
}
