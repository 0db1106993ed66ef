#include "gpu/worlds.h"

#include <chrono>
#include <cstdio>
#include <thread>

namespace sparkgap::test {

int gpus_here = 0;
Pes world_of;

// In a child, for a process that has used CUDA cannot fork any more.
int count_gpus() {
  const Shared<int> count;
  Pes without_world{1};
  without_world.has_world = false;
  run_pes(without_world, [&](const Pe&) {
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

std::vector<float> read(const Pe& pe, sparkgap_buffer* buffer, size_t count, uint64_t offset) {
  std::vector<float> values(count);
  pe.ok(sparkgap_get(pe.world(), values.data(), buffer, offset, count * sizeof(float), pe.pe()), "sparkgap_get");
  return values;
}

void write(const Pe& pe, sparkgap_buffer* buffer, const std::vector<float>& values, uint64_t offset) {
  pe.ok(sparkgap_put(pe.world(), buffer, offset, values.data(), values.size() * sizeof(float), pe.pe()),
        "sparkgap_put");
}

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

bool has_no_peer() {
  if (world_of.count == 1) std::printf("     left out: there is one PE\n");
  return world_of.count == 1;
}

bool spans_nodes() {
  if (!world_of.nodes.empty()) std::printf("     left out: the PEs are on several nodes\n");
  return !world_of.nodes.empty();
}

void connect(sparkgap_world* world, int pe, Meetings& meetings, int number) {
  std::atomic<int>& made = meetings.made[number];
  const bool by_cards = !world_of.nodes.empty();
  if (by_cards || pe == 0) {
    const sparkgap_status status = by_cards ? sparkgap_world_card(world, meetings.cards[number][pe])
                                            : sparkgap_world_id(world, meetings.ids[number]);
    expect(status == SPARKGAP_OK, "world %d: %s", number, sparkgap_last_error(world));
    ++made;
  }
  while (made.load() < (by_cards ? world_of.count : 1)) std::this_thread::sleep_for(std::chrono::microseconds(100));
  const sparkgap_status status = by_cards ? sparkgap_world_connect_cards(world, meetings.cards[number][0])
                                          : sparkgap_world_connect(world, meetings.ids[number]);
  expect(status == SPARKGAP_OK, "connect of world %d: %s", number, sparkgap_last_error(world));
}

}  // namespace sparkgap::test
