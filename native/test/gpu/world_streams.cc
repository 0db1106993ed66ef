// Streams, graphs and events of GPU worlds.
#include <vector>

#include "gpu/worlds.h"

namespace sparkgap::test {
namespace {

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

}  // namespace

std::vector<Test> tests_of_streams() {
  return {
      {"a_graph_of_collectives_is_replayed", a_graph_of_collectives_is_replayed},
      {"a_new_stream_waits_for_the_old_one", a_new_stream_waits_for_the_old_one},
      {"events_are_recorded_waited_for_and_compared", events_are_recorded_waited_for_and_compared},
  };
}

}  // namespace sparkgap::test
