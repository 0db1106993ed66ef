// Worlds of NVSHMEM with NCCL beside it. Where PEs share a GPU, NCCL is told that each is on a host of its own, which
// alone lets it have them; it goes by sockets then.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "gpu/worlds.h"

namespace sparkgap::test {
namespace {

// More on one GPU, each with NCCL's threads and buffers, prove nothing.
constexpr int kMostOnOneGpu = 4;
constexpr size_t kCount = 70000;

bool leaves_out() {
  if (std::string(world_of.provider) != "nvshmem") return true;
  if (has_no_peer()) return true;
  if (world_of.count <= kMostOnOneGpu || world_of.gpus >= world_of.count) return false;
  std::printf("     left out: more than %d PEs share a GPU\n", kMostOnOneGpu);
  return true;
}

// Before the process makes a world.
void take_a_host_of_its_own(int pe) {
  if (world_of.gpus < world_of.count) setenv("NCCL_HOSTID", ("host-of-pe-" + std::to_string(pe)).c_str(), 1);
}

Pes world_that_can_have_it() {
  Pes pes = world_of;
  pes.spoil_options = [](int pe, sparkgap_world_options&) { take_a_host_of_its_own(pe); };
  return pes;
}

void expect_told(const Pe& pe, const std::string& part) {
  const std::string text = sparkgap_world_describe(pe.world());
  expect(text.find(part) != std::string::npos, "\"%s\" is not in: %s", part.c_str(), text.c_str());
}

std::string route(const Pe& pe, int32_t collective, uint64_t count) {
  return sparkgap_route(pe.world(), collective, count, SPARKGAP_FLOAT32);
}

void hold(const Pe& pe, int32_t collective) {
  pe.ok(sparkgap_world_set_algorithm(pe.world(), collective, "nccl/default"), "sparkgap_world_set_algorithm");
}

void all_reduce(const Pe& pe, void* address, size_t count) {
  pe.ok(sparkgap_all_reduce(pe.world(), address, address, count, SPARKGAP_FLOAT32, SPARKGAP_SUM), "all_reduce");
}

void expect_sums(const Pe& pe, sparkgap_buffer* buffer, const char* what) {
  write(pe, buffer, elements(pe.pe(), kCount));
  all_reduce(pe, sparkgap_buffer_address(buffer), kCount);
  synchronize(pe);
  expect_equal(read(pe, buffer, kCount), sum_of(pe.pes(), kCount), what);
}

void what_is_held_to_nccl_goes_by_it_on_the_same_stream_and_in_steps() {
  if (leaves_out()) return;
  run_pes(world_that_can_have_it(), [](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(kCount * sizeof(float));
    void* address = sparkgap_buffer_address(buffer);
    expect_sums(pe, buffer, "by our own route");
    const auto start = std::chrono::steady_clock::now();
    hold(pe, SPARKGAP_ALL_REDUCE);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (pe.pe() == 0) std::printf("     opened in %.3f s: %s\n", took.count(), sparkgap_world_describe(pe.world()));
    std::fflush(stdout);
    expect_told(pe, ", NCCL 2.");
    expect(route(pe, SPARKGAP_ALL_REDUCE, kCount) == "nccl/default", "held");
    expect(route(pe, SPARKGAP_REDUCE, kCount).rfind("nvshmem/", 0) == 0, "what is not held");
    expect_sums(pe, buffer, "by NCCL");
    std::vector<float> host = elements(pe.pe(), 500);
    all_reduce(pe, host.data(), 500);
    expect_equal(host, sum_of(pe.pes(), 500), "host memory");
    // Between kernels of ours, in the order of the stream.
    for (const int32_t collective : {SPARKGAP_BARRIER, SPARKGAP_BROADCAST}) hold(pe, collective);
    write(pe, buffer, elements(pe.pe(), kCount));
    all_reduce(pe, address, kCount);
    pe.ok(sparkgap_world_set_algorithm(pe.world(), SPARKGAP_ALL_REDUCE, nullptr), "set_algorithm");
    expect(route(pe, SPARKGAP_ALL_REDUCE, kCount).rfind("nvshmem/", 0) == 0, "given back");
    pe.ok(sparkgap_all_reduce(pe.world(), address, address, kCount, SPARKGAP_FLOAT32, SPARKGAP_MAX), "all_reduce");
    pe.ok(sparkgap_broadcast(pe.world(), address, address, kCount, SPARKGAP_FLOAT32, 1), "broadcast");
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    synchronize(pe);
    expect_equal(read(pe, buffer, kCount), sum_of(pe.pes(), kCount), "after another");
    hold(pe, SPARKGAP_ALL_REDUCE);
    sparkgap_step* step = nullptr;
    pe.ok(sparkgap_step_begin(pe.world()), "step_begin");
    all_reduce(pe, address, kCount);
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    pe.ok(sparkgap_step_end(pe.world(), &step), "step_end");
    for (int run = 0; run < 3; ++run) {
      write(pe, buffer, elements(pe.pe(), kCount));
      pe.ok(sparkgap_step_run(pe.world(), step), "step_run");
      synchronize(pe);
      expect_equal(read(pe, buffer, kCount), sum_of(pe.pes(), kCount), "by a step");
    }
  });
}

// A world of a table that takes NCCL for messages of more than 4 KiB.
void with_table(const std::function<void(const Pe&)>& body) {
  const Shared<Meetings> meetings;
  Pes pes = world_of;
  pes.has_world = false;
  run_pes(pes, [&](const Pe& process) {
    const int pe = process.pe();
    take_a_host_of_its_own(pe);
    const sparkgap_world_options options = options_of(world_of, pe, "test PE");
    sparkgap_world* world = nullptr;
    expect(sparkgap_world_create(&options, &world) == SPARKGAP_OK, "create: %s", sparkgap_last_error(world));
    const Pe end(world, pe, process.pes());
    sparkgap_tuning_row rows[2] = {};
    rows[0].collective = rows[1].collective = SPARKGAP_ALL_REDUCE;
    rows[0].most_bytes = 4096;
    rows[0].route = "nvshmem/packets";
    rows[1].most_bytes = UINT64_MAX;
    rows[1].route = "nccl/default";
    sparkgap_tuning_table table = {};
    table.name = "takes-nccl";
    table.provider = "nvshmem";
    table.link = -1;
    table.pes_from = table.pes_to = process.pes();
    table.nodes_from = table.nodes_to = 1;
    table.shared = world_of.gpus < world_of.count ? 1 : 0;
    table.rows = rows;
    table.row_count = 2;
    end.ok(sparkgap_world_set_tables(world, &table, 1), "set_tables");
    const auto start = std::chrono::steady_clock::now();
    connect(world, pe, meetings[0], 0);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (pe == 0) std::printf("     connected in %.3f s\n", took.count());
    std::fflush(stdout);
    body(end);
    sparkgap_world_destroy(world);
  });
}

void a_table_takes_it_for_the_sizes_where_it_is_better() {
  if (leaves_out()) return;
  with_table([](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(kCount * sizeof(float));
    std::vector<float> few = elements(pe.pe(), 500);
    all_reduce(pe, few.data(), 500);
    expect_equal(few, sum_of(pe.pes(), 500), "a small one, which does not wait for it");
    const auto start = std::chrono::steady_clock::now();
    expect_sums(pe, buffer, "a large one");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (pe.pe() == 0) std::printf("     the first by NCCL took %.3f s\n", took.count());
    expect_told(pe, ", NCCL 2.");
    expect(route(pe, SPARKGAP_ALL_REDUCE, 500) == "nvshmem/packets", "small");
    expect(route(pe, SPARKGAP_ALL_REDUCE, kCount) == "nccl/default", "large");
  });
}

void a_world_can_end_while_it_is_being_opened() {
  if (leaves_out()) return;
  with_table([](const Pe& pe) {
    std::vector<float> few = elements(pe.pe(), 500);
    all_reduce(pe, few.data(), 500);
    expect_equal(few, sum_of(pe.pes(), 500), "sum");
  });
}

void without_it_on_one_pe_the_world_does_without_and_says_so() {
  if (leaves_out()) return;
  Pes pes = world_that_can_have_it();
  pes.spoil_options = [](int pe, sparkgap_world_options& options) {
    take_a_host_of_its_own(pe);
    if (pe == 1) options.nccl_library = "/nowhere/libnccl.so.2";
  };
  run_pes(pes, [](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(kCount * sizeof(float));
    hold(pe, SPARKGAP_ALL_REDUCE);
    expect_told(pe, "no NCCL beside it: PE 1 (test PE 1): ");
    expect_told(pe, "/nowhere/libnccl.so.2");
    expect(route(pe, SPARKGAP_ALL_REDUCE, kCount).rfind("nvshmem/", 0) == 0, "%s",
           route(pe, SPARKGAP_ALL_REDUCE, kCount).c_str());
    expect_sums(pe, buffer, "without it");
    hold(pe, SPARKGAP_ALL_REDUCE);
    expect_sums(pe, buffer, "asked for again");
  });
}

void pes_that_share_a_gpu_do_without() {
  if (leaves_out() || world_of.gpus >= world_of.count) return;
  run_pes(world_of, [](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(kCount * sizeof(float));
    hold(pe, SPARKGAP_ALL_REDUCE);
    expect_told(pe, "no NCCL beside it: PEs ");
    expect_told(pe, " share a GPU");
    expect_sums(pe, buffer, "without it");
  });
}

void an_abort_ends_a_wait_in_nccl() {
  if (leaves_out()) return;
  run_pes(world_that_can_have_it(), [](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(kCount * sizeof(float));
    hold(pe, SPARKGAP_ALL_REDUCE);
    expect_sums(pe, buffer, "before");
    if (pe.pe() == 1) {
      usleep(300000);
      sparkgap_world_abort(pe.world(), "enough");
      expect_failure(pe.world(), sparkgap_synchronize(pe.world()), SPARKGAP_ABORTED, {"enough"});
      return;
    }
    void* address = sparkgap_buffer_address(buffer);
    sparkgap_status status = sparkgap_all_reduce(pe.world(), address, address, kCount, SPARKGAP_FLOAT32, SPARKGAP_SUM);
    if (status == SPARKGAP_OK) status = sparkgap_synchronize(pe.world());
    expect_failure(pe.world(), status, SPARKGAP_ABORTED, {"PE 1 (test PE 1)", "enough"});
  });
}

void a_pe_that_is_killed_ends_a_wait_in_nccl() {
  if (leaves_out()) return;
  const Shared<std::atomic<int>> ended;
  try {
    run_pes(world_that_can_have_it(), [&](const Pe& pe) {
      sparkgap_buffer* buffer = pe.allocate(kCount * sizeof(float));
      hold(pe, SPARKGAP_ALL_REDUCE);
      expect_sums(pe, buffer, "before");
      if (pe.pe() == 1) kill(getpid(), SIGKILL);
      void* address = sparkgap_buffer_address(buffer);
      sparkgap_status status =
          sparkgap_all_reduce(pe.world(), address, address, kCount, SPARKGAP_FLOAT32, SPARKGAP_SUM);
      if (status == SPARKGAP_OK) status = sparkgap_synchronize(pe.world());
      ended->fetch_add(1);
      expect_failure(pe.world(), status, SPARKGAP_PEER_LOST, {"PE 1 (test PE 1"});
    });
  } catch (const Failure& failure) {
    expect(ended->load() == world_of.count - 1, "only %d PEs came back: %s", ended->load(), failure.what());
    const std::string text = failure.what();
    expect(text.find("Killed") != std::string::npos && text.find("is not in") == std::string::npos, "%s",
           failure.what());
    return;
  }
  expect(false, "no PE was killed");
}

}  // namespace

std::vector<Test> tests_of_beside() {
  return {
      {"what_is_held_to_nccl_goes_by_it_on_the_same_stream_and_in_steps",
       what_is_held_to_nccl_goes_by_it_on_the_same_stream_and_in_steps},
      {"a_table_takes_it_for_the_sizes_where_it_is_better", a_table_takes_it_for_the_sizes_where_it_is_better},
      {"a_world_can_end_while_it_is_being_opened", a_world_can_end_while_it_is_being_opened},
      {"without_it_on_one_pe_the_world_does_without_and_says_so",
       without_it_on_one_pe_the_world_does_without_and_says_so},
      {"pes_that_share_a_gpu_do_without", pes_that_share_a_gpu_do_without},
      {"an_abort_ends_a_wait_in_nccl", an_abort_ends_a_wait_in_nccl},
      {"a_pe_that_is_killed_ends_a_wait_in_nccl", a_pe_that_is_killed_ends_a_wait_in_nccl},
  };
}

}  // namespace sparkgap::test
