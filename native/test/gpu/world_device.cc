// Kernels of somebody else's (stranger.cu), which exchange data by sparkgap/device.cuh.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "gpu/stranger.h"
#include "gpu/worlds.h"
#include "step/steps.h"

namespace sparkgap::test {
namespace {

void launched(int error) { cuda_ok(static_cast<cudaError_t>(error), "a launch"); }

sparkgap_device_world device_world_of(const Pe& pe) {
  launched(stranger::load());
  sparkgap_device_world world;
  pe.ok(sparkgap_world_device(pe.world(), &world), "sparkgap_world_device");
  expect(world.layout == SPARKGAP_DEVICE_LAYOUT && world.pe == pe.pe() && world.pes == pe.pes(), "PE %d of %d",
         world.pe, world.pes);
  return world;
}

sparkgap_device_buffer device_buffer_of(const Pe& pe, sparkgap_buffer* buffer) {
  sparkgap_device_buffer found;
  pe.ok(sparkgap_buffer_device(pe.world(), buffer, &found), "sparkgap_buffer_device");
  expect(found.bytes == sparkgap_buffer_bytes(buffer), "%lu bytes", found.bytes);
  expect(found.parts[pe.pe()] == sparkgap_buffer_address(buffer), "the own part is elsewhere");
  return found;
}

// A word that kernels count in and the host reads, whatever has become of the world.
class Counter {
 public:
  Counter() {
    void* made = nullptr;
    cuda_ok(cudaHostAlloc(&made, sizeof(stranger::Count), cudaHostAllocMapped), "cudaHostAlloc");
    count_ = static_cast<stranger::Count*>(made);
    *count_ = 0;
  }
  stranger::Count* get() const { return count_; }
  stranger::Count value() const { return *const_cast<volatile stranger::Count*>(count_); }

 private:
  stranger::Count* count_ = nullptr;
};

constexpr int32_t kTypes[] = {SPARKGAP_FLOAT32, SPARKGAP_BFLOAT16, SPARKGAP_INT64, SPARKGAP_FLOAT64};
constexpr int32_t kOps[] = {SPARKGAP_SUM, SPARKGAP_SUM, SPARKGAP_MAX, SPARKGAP_AVG};

// What was written as floats stands for elements of any type.
void a_strangers_sums_have_the_same_bits_as_ours() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    const sparkgap_device_world world = device_world_of(pe);
    constexpr size_t kMost = 300'000;
    sparkgap_buffer* in = pe.allocate(kMost * 8);
    sparkgap_buffer* out = pe.allocate(2 * kMost * 8);
    std::vector<float> values = elements(pe.pe(), 2 * kMost);
    for (float& value : values) value /= 3;
    write(pe, in, values);
    const auto* from = static_cast<const uint8_t*>(sparkgap_buffer_address(in));
    auto* to = static_cast<uint8_t*>(sparkgap_buffer_address(out));
    void* const stream = sparkgap_world_stream(pe.world());
    for (int kind = 0; kind < 4; ++kind) {
      for (const uint64_t count : {uint64_t{0}, uint64_t{1}, uint64_t{3}, uint64_t{1000}, uint64_t{16'411}, kMost}) {
        for (const int blocks : {1, 2, std::min(world.lanes, 16)}) {
          // Not aligned to a word where the element is smaller.
          const uint64_t shift = kind == 1 ? 2 : kind == 0 ? 4 : 0;
          const uint64_t used = shift == 0 || count == 0 ? count : count - 1;
          launched(stranger::reduce(world, stream, static_cast<stranger::Sum>(kind), from + shift, to + shift, used,
                                    blocks));
          pe.ok(sparkgap_all_reduce(pe.world(), from + shift, to + kMost * 8 + shift, used, kTypes[kind], kOps[kind]),
                "all_reduce");
          synchronize(pe);
          const std::vector<float> ours = read(pe, out, 2 * kMost, kMost * 8);
          const std::vector<float> theirs = read(pe, out, 2 * kMost);
          expect(std::memcmp(ours.data(), theirs.data(), kMost * 8) == 0, "sum %d of %lu by %d blocks", kind, used,
                 blocks);
        }
      }
    }
  });
}

void a_stranger_gathers_what_we_gather() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    const sparkgap_device_world world = device_world_of(pe);
    constexpr size_t kMost = 20'000;
    const size_t all = kMost * static_cast<size_t>(pe.pes());
    sparkgap_buffer* in = pe.allocate(kMost * sizeof(float));
    sparkgap_buffer* out = pe.allocate(2 * all * sizeof(float));
    write(pe, in, elements(pe.pe(), kMost));
    const auto* from = static_cast<const float*>(sparkgap_buffer_address(in));
    auto* to = static_cast<float*>(sparkgap_buffer_address(out));
    for (const size_t count : {size_t{1}, size_t{7}, size_t{1000}, size_t{19'999}}) {
      for (const int blocks : {1, 5}) {
        // In place.
        float* const own = to + static_cast<size_t>(pe.pe()) * count;
        void* const stream = sparkgap_world_stream(pe.world());
        cuda_ok(cudaMemcpyAsync(own, from, count * sizeof(float), cudaMemcpyDefault, static_cast<cudaStream_t>(stream)),
                "copy");
        launched(stranger::gather(world, stream, blocks == 1 ? from : own, to, count, blocks));
        pe.ok(sparkgap_all_gather(pe.world(), from, to + all, count, SPARKGAP_FLOAT32), "all_gather");
        synchronize(pe);
        expect_equal(read(pe, out, count * static_cast<size_t>(pe.pes())),
                     read(pe, out, count * static_cast<size_t>(pe.pes()), all * sizeof(float)), "an all-gather");
      }
    }
  });
}

// On a stream of its own, with our calls beside it on the world's.
void a_strangers_collectives_of_all_sizes_follow_each_other() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    const sparkgap_device_world world = device_world_of(pe);
    constexpr uint32_t kMost = 30'000;
    sparkgap_buffer* x = pe.allocate(kMost * sizeof(float));
    sparkgap_buffer* y = pe.allocate(kMost * sizeof(float) * static_cast<uint64_t>(pe.pes()));
    sparkgap_buffer* ours = pe.allocate(4000);
    auto* values = static_cast<float*>(sparkgap_buffer_address(ours));
    const Counter wrong;
    cudaStream_t stream = nullptr;
    cuda_ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    pe.ok(sparkgap_all_reduce(pe.world(), values, values, 1000, SPARKGAP_FLOAT32, SPARKGAP_SUM), "all_reduce");
    synchronize(pe);
    for (const int blocks : {1, std::min(world.lanes / 2, 12)}) {
      launched(stranger::mixture(world, stream, static_cast<float*>(sparkgap_buffer_address(x)),
                                 static_cast<float*>(sparkgap_buffer_address(y)), kMost, 300, std::max(blocks, 1),
                                 wrong.get()));
      for (int i = 0; i < 100; ++i) {
        pe.ok(sparkgap_all_reduce(pe.world(), values, values, 1000, SPARKGAP_FLOAT32, SPARKGAP_SUM), "all_reduce");
      }
      synchronize(pe);
      cuda_ok(cudaStreamSynchronize(stream), "the stranger's kernel");
      expect(wrong.value() == 0, "%llu elements are wrong", wrong.value());
    }
    synchronize(pe);
    cudaStreamDestroy(stream);
  });
}

void a_strangers_data_comes_before_its_signal() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    const sparkgap_device_world world = device_world_of(pe);
    constexpr uint32_t kBytes = 5003;
    const sparkgap_device_buffer data = device_buffer_of(pe, pe.allocate(2 * kBytes));
    const sparkgap_device_buffer signals = device_buffer_of(pe, pe.allocate(64));
    const Counter wrong;
    launched(stranger::ring(world, sparkgap_world_stream(pe.world()), data, signals, kBytes, 2000, wrong.get()));
    synchronize(pe);
    expect(wrong.value() == 0, "%llu bytes or sums are wrong", wrong.value());
  });
}

void a_strangers_kernel_is_part_of_a_step() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    const sparkgap_device_world world = device_world_of(pe);
    constexpr size_t kCount = 3000;
    sparkgap_buffer* buffer = pe.allocate(kCount * sizeof(float));
    auto* values = static_cast<float*>(sparkgap_buffer_address(buffer));
    sparkgap_step* step = record(pe, [&] {
      pe.ok(sparkgap_all_reduce(pe.world(), values, values, kCount, SPARKGAP_FLOAT32, SPARKGAP_AVG), "all_reduce");
      launched(stranger::reduce(world, sparkgap_world_stream(pe.world()), stranger::Sum::kFloats, values, values,
                                kCount, std::min(world.lanes, 4)));
    });
    for (int round = 0; round < 20; ++round) {
      write(pe, buffer, std::vector<float>(kCount, static_cast<float>(2 * round + 2 * pe.pe())));
      run(pe, step);
      synchronize(pe);
      const float mean = static_cast<float>(2 * round + pe.pes() - 1);
      expect_equal(read(pe, buffer, kCount), std::vector<float>(kCount, mean * static_cast<float>(pe.pes())), "a step");
    }
  });
}

// Runs a kernel that cannot end well, and waits for it.
template <class Launch>
void expect_told(const Pe& pe, sparkgap_status expected, const std::vector<std::string>& parts, stranger::Count blocks,
                 const Launch& launch) {
  const Counter told;
  launched(launch(told.get()));
  const sparkgap_status status = sparkgap_synchronize(pe.world());
  expect_failure(pe.world(), status, expected, parts);
  cuda_ok(cudaStreamSynchronize(static_cast<cudaStream_t>(sparkgap_world_stream(pe.world()))), "the kernel");
  expect(told.value() == blocks, "%llu of %llu blocks were told", told.value(), blocks);
}

void a_stranger_is_told_of_a_pe_that_does_not_come() {
  if (has_no_peer() || spans_nodes()) return;
  Pes pes = world_of;
  pes.peer_timeout_ms = 4000;
  const Shared<std::atomic<int>> ended;
  run_pes(pes, [&](const Pe& pe) {
    const sparkgap_device_world world = device_world_of(pe);
    auto* values = static_cast<float*>(sparkgap_buffer_address(pe.allocate(4000)));
    if (pe.pe() == 1) {
      while (ended->load() < pe.pes() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return;
    }
    expect_told(pe, SPARKGAP_TIMED_OUT, {"allReduce in a kernel of the caller's", "4000 ms"}, 3,
                [&](stranger::Count* told) {
                  return stranger::tell(world, sparkgap_world_stream(pe.world()), values, 1000, 3, 0, told);
                });
    ended->fetch_add(1);
  });
}

void a_stranger_is_told_of_an_abort() {
  if (has_no_peer() || spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    const sparkgap_device_world world = device_world_of(pe);
    auto* word = static_cast<int64_t*>(sparkgap_buffer_address(pe.allocate(64)));
    if (pe.pe() == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      sparkgap_world_abort(pe.world(), "enough");
      return;
    }
    expect_told(pe, SPARKGAP_ABORTED, {"enough"}, 1, [&](stranger::Count* told) {
      return stranger::await(world, sparkgap_world_stream(pe.world()), word, 1, told);
    });
  });
}

void strangers_that_differ_are_told() {
  if (has_no_peer() || spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    const sparkgap_device_world world = device_world_of(pe);
    auto* values = static_cast<float*>(sparkgap_buffer_address(pe.allocate(4000)));
    expect_told(pe, SPARKGAP_MISMATCH, {"allReduce in a kernel of the caller's"}, 1, [&](stranger::Count* told) {
      return stranger::tell(world, sparkgap_world_stream(pe.world()), values, pe.pe() == 1 ? 100 : 102, 1, 0, told);
    });
  });
}

void a_channel_that_there_is_not_is_told() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    const sparkgap_device_world world = device_world_of(pe);
    auto* values = static_cast<float*>(sparkgap_buffer_address(pe.allocate(4000)));
    // The others' meeting with it has no end but this.
    expect_told(pe, SPARKGAP_ABORTED, {"a kernel of the caller's", "channel 51", "there are 512"}, 3,
                [&](stranger::Count* told) {
                  return stranger::tell(world, sparkgap_world_stream(pe.world()), values, 100, 3, 511, told);
                });
  });
}

void a_stranger_of_another_release_does_nothing() {
  if (spans_nodes()) return;
  run_pes(world_of, [](const Pe& pe) {
    sparkgap_device_world world = device_world_of(pe);
    auto* values = static_cast<float*>(sparkgap_buffer_address(pe.allocate(4000)));
    ++world.layout;
    const Counter told;
    launched(stranger::tell(world, sparkgap_world_stream(pe.world()), values, 100, 2, 0, told.get()));
    synchronize(pe);
    expect(told.value() == 2, "%llu blocks were told", told.value());
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    synchronize(pe);
  });
}

void a_world_on_several_nodes_has_no_view_for_kernels() {
  if (world_of.nodes.empty()) return;
  run_pes(world_of, [](const Pe& pe) {
    sparkgap_device_world world;
    expect_failure(pe.world(), sparkgap_world_device(pe.world(), &world), SPARKGAP_UNAVAILABLE, {"one host"});
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    synchronize(pe);
  });
}

}  // namespace

std::vector<Test> tests_of_device_code() {
  return {
      {"a_strangers_sums_have_the_same_bits_as_ours", a_strangers_sums_have_the_same_bits_as_ours},
      {"a_stranger_gathers_what_we_gather", a_stranger_gathers_what_we_gather},
      {"a_strangers_collectives_of_all_sizes_follow_each_other",
       a_strangers_collectives_of_all_sizes_follow_each_other},
      {"a_strangers_data_comes_before_its_signal", a_strangers_data_comes_before_its_signal},
      {"a_strangers_kernel_is_part_of_a_step", a_strangers_kernel_is_part_of_a_step},
      {"a_stranger_is_told_of_a_pe_that_does_not_come", a_stranger_is_told_of_a_pe_that_does_not_come},
      {"a_stranger_is_told_of_an_abort", a_stranger_is_told_of_an_abort},
      {"strangers_that_differ_are_told", strangers_that_differ_are_told},
      {"a_channel_that_there_is_not_is_told", a_channel_that_there_is_not_is_told},
      {"a_stranger_of_another_release_does_nothing", a_stranger_of_another_release_does_nothing},
      {"a_world_on_several_nodes_has_no_view_for_kernels", a_world_on_several_nodes_has_no_view_for_kernels},
  };
}

}  // namespace sparkgap::test
