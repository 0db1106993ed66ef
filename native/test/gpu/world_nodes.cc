// Worlds of GPUs on several nodes: hosts of tools/hosts/hosts.py.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "collective/grid.h"
#include "gpu/worlds.h"
#include "step/steps.h"
#include "support/hosts.h"

namespace sparkgap::test {
namespace {

bool is_on_one_node() {
  if (world_of.nodes.empty()) std::printf("     left out: the PEs are on one node\n");
  return world_of.nodes.empty();
}

// NCCL adds in an order and a precision of its own.
void every_collective_of_every_type_crosses_nodes() {
  if (is_on_one_node()) return;
  Pes pes = world_of;
  pes.deadline_seconds = 120;
  run_grid(pes, grid_in_private_memory(pes.count), Elements::kSmallWhole);
}

void nodes_and_routes_are_known() {
  if (is_on_one_node()) return;
  run_pes(world_of, [](const Pe& pe) {
    for (int other = 0; other < pe.pes(); ++other) {
      const int node = sparkgap_world_node(pe.world(), other);
      expect(node == node_of(world_of, other), "PE %d is on node %d", other, node);
    }
    const std::string route = sparkgap_route(pe.world(), SPARKGAP_ALL_REDUCE, 1000, SPARKGAP_FLOAT32);
    expect(route == "nccl/default", "the route is %s", route.c_str());
    const std::string described = sparkgap_world_describe(pe.world());
    for (const char* part : {"NCCL ", "nodes, between nodes libfabric", "sockets are on eth0"}) {
      expect(described.find(part) != std::string::npos, "\"%s\" is not in: %s", part, described.c_str());
    }
  });
}

void one_sided_calls_end_at_the_node() {
  if (is_on_one_node()) return;
  run_pes(world_of, [](const Pe& pe) {
    sparkgap_world* world = pe.world();
    sparkgap_buffer* data = pe.allocate(4096);
    sparkgap_buffer* words = pe.allocate(64);
    const std::vector<float> values = elements(pe.pe(), 1000);
    const std::vector<std::string> why = {"is on another node", "use collectives"};
    for (int peer = 0; peer < pe.pes(); ++peer) {
      const bool near = node_of(world_of, peer) == node_of(world_of, pe.pe());
      expect((sparkgap_buffer_peer_address(data, peer) != nullptr) == near, "PE %d's memory", peer);
      if (near) {
        if (peer != pe.pe()) continue;
        pe.ok(sparkgap_put_signal(world, data, 0, values.data(), 4000, words, 0, 1, SPARKGAP_SIGNAL_SET, peer), "put");
        pe.ok(sparkgap_wait_signal(world, words, 0, SPARKGAP_EQ, 1, nullptr), "wait_signal");
        expect_equal(read(pe, data, 1000), values, "what it has put into its own memory");
        continue;
      }
      float got[10];
      int64_t before;
      expect_failure(world, sparkgap_put(world, data, 0, got, sizeof got, peer), SPARKGAP_UNAVAILABLE, why);
      expect_failure(world, sparkgap_get(world, got, data, 0, sizeof got, peer), SPARKGAP_UNAVAILABLE, why);
      expect_failure(world, sparkgap_signal(world, words, 0, 1, SPARKGAP_SIGNAL_ADD, peer), SPARKGAP_UNAVAILABLE, why);
      expect_failure(world, sparkgap_fetch_add(world, words, 0, 1, peer, &before), SPARKGAP_UNAVAILABLE, why);
    }
    // What is refused does no harm, neither to a step.
    const int far = node_of(world_of, pe.pe()) == 0 ? pe.pes() - 1 : 0;
    auto* reduced = static_cast<float*>(sparkgap_buffer_address(data));
    sparkgap_step* step = record(pe, [&] {
      sum(pe, reduced, 1000);
      expect_failure(world, sparkgap_signal(world, words, 8, 1, SPARKGAP_SIGNAL_SET, far), SPARKGAP_UNAVAILABLE, why);
      pe.ok(sparkgap_barrier(world), "barrier");
    });
    expect(sparkgap_step_calls(step) == 2, "%d calls", sparkgap_step_calls(step));
    write(pe, data, values);
    run(pe, step);
    synchronize(pe);
    expect_equal(read(pe, data, 1000), sum_of(pe.pes(), 1000), "the sum of a step");
  });
}

// NCCL takes what comes for what it waits for, and then waits for what does not come; the PEs find out why.
void calls_that_differ_and_wait_are_told_apart_between_nodes() {
  if (is_on_one_node()) return;
  run_pes(world_of, [](const Pe& pe) {
    constexpr uint64_t kCount = 4 << 20;
    sparkgap_buffer* buffer = pe.allocate(kCount * sizeof(float));
    void* address = sparkgap_buffer_address(buffer);
    const auto reduce = [&](uint64_t count) {
      const sparkgap_status status =
          sparkgap_all_reduce(pe.world(), address, address, count, SPARKGAP_FLOAT32, SPARKGAP_SUM);
      return status == SPARKGAP_OK ? sparkgap_synchronize(pe.world()) : status;
    };
    pe.ok(reduce(kCount), "all_reduce");
    const bool less = pe.pe() == pe.pes() - 1;
    sparkgap_status status = reduce(less ? kCount / 8 : kCount);
    // Whoever has sent less waits in the next call, if not in this one.
    if (status == SPARKGAP_OK && less) status = reduce(kCount);
    // The other may have had both calls' data for its one.
    for (int looks = 0; looks < 1000 && status == SPARKGAP_OK; ++looks) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      status = sparkgap_synchronize(pe.world());
    }
    expect_failure(pe.world(), status, SPARKGAP_MISMATCH, {"float32 x 4194304", "float32 x 524288"});
  });
}

// NCCL would wait until the deadline.
void a_call_that_a_pe_does_not_make_is_told_when_its_function_has_ended() {
  if (is_on_one_node()) return;
  const Shared<std::atomic<int>> told;
  run_pes(world_of, [&](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(4000);
    void* address = sparkgap_buffer_address(buffer);
    pe.ok(sparkgap_all_reduce(pe.world(), address, address, 1000, SPARKGAP_FLOAT32, SPARKGAP_SUM), "all_reduce");
    synchronize(pe);
    if (pe.pe() == pe.pes() - 1) {
      pe.ok(sparkgap_world_finish(pe.world()), "finish");
      while (told->load() < pe.pes() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return;
    }
    sparkgap_status status = sparkgap_all_reduce(pe.world(), address, address, 1000, SPARKGAP_FLOAT32, SPARKGAP_SUM);
    if (status == SPARKGAP_OK) status = sparkgap_synchronize(pe.world());
    told->fetch_add(1);
    expect_failure(pe.world(), status, SPARKGAP_MISMATCH, {"whose function has ended", "and returned"});
  });
}

// Last but for those that end with a broken GPU: it takes a host's network away.
void a_host_that_is_gone_is_named() {
  if (is_on_one_node()) return;
  const Shared<std::atomic<int>> ended;
  try {
    run_pes(world_of, [&](const Pe& pe) {
      sparkgap_buffer* buffer = pe.allocate(4000);
      void* address = sparkgap_buffer_address(buffer);
      const auto reduce = [&] {
        const sparkgap_status status =
            sparkgap_all_reduce(pe.world(), address, address, 1000, SPARKGAP_FLOAT32, SPARKGAP_SUM);
        return status == SPARKGAP_OK ? sparkgap_synchronize(pe.world()) : status;
      };
      pe.ok(reduce(), "all_reduce");
      const bool goes = pe.pe() == pe.pes() - 1;
      if (goes) set_own_link(false);
      const auto start = std::chrono::steady_clock::now();
      const sparkgap_status status = reduce();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      if (pe.pe() == 0) std::printf("     seen after %.2f s: %s\n", took.count(), sparkgap_last_error(pe.world()));
      std::fflush(stdout);
      expect_failure(pe.world(), status, SPARKGAP_PEER_LOST, {"on host"});
      ended->fetch_add(1);
    });
  } catch (const Failure&) {
    set_link(static_cast<int>(world_of.nodes.size()) - 1, true);
    throw;
  }
  set_link(static_cast<int>(world_of.nodes.size()) - 1, true);
  expect(ended->load() == world_of.count, "only %d PEs came back", ended->load());
}

}  // namespace

std::vector<Test> tests_of_nodes() {
  return {
      {"every_collective_of_every_type_crosses_nodes", every_collective_of_every_type_crosses_nodes},
      {"nodes_and_routes_are_known", nodes_and_routes_are_known},
      {"one_sided_calls_end_at_the_node", one_sided_calls_end_at_the_node},
      {"calls_that_differ_and_wait_are_told_apart_between_nodes",
       calls_that_differ_and_wait_are_told_apart_between_nodes},
      {"a_call_that_a_pe_does_not_make_is_told_when_its_function_has_ended",
       a_call_that_a_pe_does_not_make_is_told_when_its_function_has_ended},
      {"a_host_that_is_gone_is_named", a_host_that_is_gone_is_named},
  };
}

}  // namespace sparkgap::test
