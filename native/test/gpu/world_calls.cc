// Collectives and one-sided calls of GPU worlds, on whatever memory.
#include <cstdio>
#include <cstring>
#include <string>

#include "gpu/worlds.h"

namespace sparkgap::test {
namespace {

void one_sided_calls_reach_the_next_pe() {
  if (spans_nodes()) return;
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
  if (spans_nodes()) return;
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

}  // namespace

std::vector<Test> tests_of_calls() {
  return {
      {"one_sided_calls_reach_the_next_pe", one_sided_calls_reach_the_next_pe},
      {"host_memory_is_staged", host_memory_is_staged},
      {"nccls_own_collectives_do_the_same", nccls_own_collectives_do_the_same},
      {"a_ring_is_taken_where_it_is_asked_for", a_ring_is_taken_where_it_is_asked_for},
      {"blocks_of_all_to_allv_leave_what_lies_between_alone", blocks_of_all_to_allv_leave_what_lies_between_alone},
      {"pes_may_differ_in_the_memory_that_they_give", pes_may_differ_in_the_memory_that_they_give},
  };
}

}  // namespace sparkgap::test
