// PEs of GPU worlds that do not come, die, abort or make other calls, and GPUs that fail.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "gpu/worlds.h"

namespace sparkgap::test {
namespace {

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
    // Behind the process that starts it on a host, a signal is an exit code.
    const bool killed = text.find("Killed") != std::string::npos || text.find("exited with 137") != std::string::npos;
    expect(killed && text.find("is not in") == std::string::npos && text.find("status") == std::string::npos, "%s",
           failure.what());
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

// The kernels' flags, packets and lines tell them apart.
void calls_that_differ_are_told_apart_without_a_check() {
  if (has_no_peer() || spans_nodes()) return;
  for (const uint64_t count : {100, 100'000, 8'000'000}) {
    run_pes(world_of, [&](const Pe& pe) {
      sparkgap_buffer* buffer = pe.allocate(count * 4);
      void* address = sparkgap_buffer_address(buffer);
      const int32_t op = pe.pe() == 1 ? SPARKGAP_MAX : SPARKGAP_SUM;
      sparkgap_status status = sparkgap_all_reduce(pe.world(), address, address, count, SPARKGAP_FLOAT32, op);
      if (status == SPARKGAP_OK) status = sparkgap_synchronize(pe.world());
      expect_failure(pe.world(), status, SPARKGAP_MISMATCH, {"allReduce"});
    });
  }
}

// Last, for it ends with a GPU that some process has broken: not under MPS, where others would suffer.
void a_sticky_error_says_that_the_process_must_go() {
  Pes pes = world_of;
  pes.count = 1;
  if (spans_nodes()) return;
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

}  // namespace

std::vector<Test> tests_of_losses() {
  return {
      {"an_abort_ends_a_wait_on_the_gpu", an_abort_ends_a_wait_on_the_gpu},
      {"a_pe_that_does_not_come_is_named_at_the_deadline", a_pe_that_does_not_come_is_named_at_the_deadline},
      {"a_pe_that_is_killed_ends_the_waits_of_the_others", a_pe_that_is_killed_ends_the_waits_of_the_others},
      {"calls_that_differ_are_told_apart", calls_that_differ_are_told_apart},
      {"calls_that_differ_are_told_apart_without_a_check", calls_that_differ_are_told_apart_without_a_check},
      {"a_sticky_error_says_that_the_process_must_go", a_sticky_error_says_that_the_process_must_go},
  };
}

}  // namespace sparkgap::test
