// How GPU worlds come about and follow each other, and the memory that they have.
#include <chrono>
#include <cstdio>

#include "gpu/worlds.h"

namespace sparkgap::test {
namespace {

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

void worlds_follow_one_another_with_other_pe_numbers() {
  const Shared<Meetings> meetings;
  Pes pes = world_of;
  pes.has_world = false;
  run_pes(pes, [&](const Pe& process) {
    for (int number = 0; number < 3; ++number) {
      Pes next = world_of;
      next.epoch = static_cast<uint64_t>(number) + 1;
      // On several nodes it is the host that says which PE a process can be.
      const int pe = world_of.nodes.empty() ? (process.pe() + number) % process.pes() : process.pe();
      sparkgap_world_options options = options_of(next, pe, "test PE");
      options.device = process.pe() % world_of.gpus;  // the process keeps its GPU
      sparkgap_world* world = nullptr;
      const sparkgap_status created = sparkgap_world_create(&options, &world);
      expect(created == SPARKGAP_OK, "create: %s", sparkgap_last_error(world));
      const auto start = std::chrono::steady_clock::now();
      connect(world, pe, meetings[0], number);
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
        if (node_of(world_of, a) == node_of(world_of, b)) {
          expect((link == SPARKGAP_LINK_SHM) == one_gpu, "PEs %d and %d: link %d", a, b, link);
        } else {
          expect(link == SPARKGAP_LINK_TCP, "PEs %d and %d of two nodes: link %d", a, b, link);
        }
        expect(link == sparkgap_world_link(pe.world(), b, a), "PEs %d and %d: the order matters", a, b);
      }
    }
    if (pe.pe() == 0) std::printf("     %s\n", sparkgap_world_describe(pe.world()));
    std::fflush(stdout);
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

}  // namespace

std::vector<Test> tests_of_worlds() {
  return {
      {"a_symmetric_buffer_is_reduced_in_place", a_symmetric_buffer_is_reduced_in_place},
      {"worlds_follow_one_another_with_other_pe_numbers", worlds_follow_one_another_with_other_pe_numbers},
      {"a_second_world_in_a_process_is_refused", a_second_world_in_a_process_is_refused},
      {"two_pes_on_one_gpu_are_refused_by_name", two_pes_on_one_gpu_are_refused_by_name},
      {"links_are_those_of_the_gpus", links_are_those_of_the_gpus},
      {"memory_that_is_freed_is_used_again", memory_that_is_freed_is_used_again},
      {"more_than_the_gpu_has_is_refused_and_the_world_goes_on",
       more_than_the_gpu_has_is_refused_and_the_world_goes_on},
  };
}

}  // namespace sparkgap::test
