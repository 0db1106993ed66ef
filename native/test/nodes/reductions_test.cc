// Large reductions and broadcasts between three hosts: the same bits by every way, and what goes over the cable.
// Run within tools/hosts/hosts.py --hosts 3 run.
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "nodes/worlds.h"
#include "support/check.h"
#include "support/hosts.h"
#include "support/pes.h"

namespace sparkgap::test {
namespace {

uint64_t bytes_sent() {
  std::ifstream devices("/proc/self/net/dev");
  for (std::string line; std::getline(devices, line);) {
    const size_t name = line.find("eth0:");
    if (name == std::string::npos) continue;
    std::istringstream numbers(line.substr(name + 5));
    uint64_t number = 0;
    // The ninth is what was sent.
    for (int i = 0; i < 9; ++i) numbers >> number;
    return number;
  }
  return 0;
}

std::vector<float> reduced(const Pe& pe, const char* algorithm, const std::vector<float>& in) {
  pe.ok(sparkgap_world_set_algorithm(pe.world(), SPARKGAP_ALL_REDUCE, algorithm), algorithm);
  std::vector<float> out(in.size());
  pe.ok(sparkgap_all_reduce(pe.world(), in.data(), out.data(), in.size(), SPARKGAP_FLOAT32, SPARKGAP_SUM), algorithm);
  std::vector<float> same = in;
  pe.ok(sparkgap_all_reduce(pe.world(), same.data(), same.data(), same.size(), SPARKGAP_FLOAT32, SPARKGAP_SUM),
        "in place");
  expect(std::memcmp(out.data(), same.data(), out.size() * sizeof(float)) == 0, "%s in place differs", algorithm);
  return out;
}

// By every way the same sum, to the bit, on all PEs.
void reductions_have_the_same_bits_whichever_way_they_go() {
  for (const std::vector<int>& nodes : {std::vector<int>{1, 1, 1}, {2, 1, 3}, {2, 2, 2}}) {
    const Pes pes = pes_on(nodes);
    const Shared<uint64_t> digests(static_cast<size_t>(pes.count));
    run_pes(pes, [&](const Pe& pe) {
      // Pieces that are whole, and one that is not.
      std::vector<float> in(777777);
      uint32_t state = static_cast<uint32_t>(pe.pe()) + 1;
      for (float& value : in) {
        state = state * 1664525u + 1013904223u;
        value = static_cast<float>(state >> 8) / 1e5f - 50;
      }
      const std::vector<float> by_rails = reduced(pe, "rails", in);
      const std::vector<float> scattered = reduced(pe, "scattered-rails", in);
      const std::vector<float> selected = reduced(pe, "auto", in);
      const size_t bytes = in.size() * sizeof(float);
      expect(std::memcmp(by_rails.data(), scattered.data(), bytes) == 0, "PE %d: scattered rails differ", pe.pe());
      expect(std::memcmp(by_rails.data(), selected.data(), bytes) == 0, "PE %d: what was selected differs", pe.pe());
      uint64_t digest = 14695981039346656037u;
      for (const float value : by_rails) {
        uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        digest = (digest ^ bits) * 1099511628211u;
      }
      digests[static_cast<size_t>(pe.pe())] = digest;
      pe.ok(sparkgap_barrier(pe.world()), "barrier");
      expect(digests[0] == digest, "PE %d has other bits than PE 0", pe.pe());
    });
  }
}

// 2 * (nodes - 1) / nodes of the message, and what packets add.
void large_reductions_send_no_more_than_they_must() {
  run_pes(pes_on({1, 1, 1}), [](const Pe& pe) {
    std::vector<float> values(4 << 20);
    const uint64_t bytes = values.size() * sizeof(float);
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    const uint64_t before = bytes_sent();
    pe.ok(sparkgap_all_reduce(pe.world(), values.data(), values.data(), values.size(), SPARKGAP_FLOAT32, SPARKGAP_SUM),
          "allReduce");
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    const uint64_t sent = bytes_sent() - before;
    expect(sent >= bytes, "PE %d: %lu bytes were sent; the test shows nothing", pe.pe(), sent);
    expect(sent < bytes * 3 / 2, "PE %d sent %lu bytes for a message of %lu", pe.pe(), sent, bytes);
  });
}

// The message leaves the root once, and every other PE half of it.
void a_large_broadcast_leaves_the_root_once() {
  run_pes(pes_on({1, 1, 1}), [](const Pe& pe) {
    std::vector<float> values(4 << 20, pe.pe() == 1 ? 7.0f : 0.0f);
    const uint64_t bytes = values.size() * sizeof(float);
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    const uint64_t before = bytes_sent();
    pe.ok(sparkgap_broadcast(pe.world(), values.data(), values.data(), values.size(), SPARKGAP_FLOAT32, 1),
          "broadcast");
    pe.ok(sparkgap_barrier(pe.world()), "barrier");
    const uint64_t sent = bytes_sent() - before;
    expect(values.front() == 7 && values.back() == 7, "PE %d got something else", pe.pe());
    const uint64_t must = pe.pe() == 1 ? bytes : bytes / 2;
    expect(sent >= must, "PE %d: %lu bytes were sent; the test shows nothing", pe.pe(), sent);
    expect(sent < must * 5 / 4, "PE %d sent %lu bytes for a message of %lu", pe.pe(), sent, bytes);
  });
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"reductions_have_the_same_bits_whichever_way_they_go", reductions_have_the_same_bits_whichever_way_they_go},
       {"large_reductions_send_no_more_than_they_must", large_reductions_send_no_more_than_they_must},
       {"a_large_broadcast_leaves_the_root_once", a_large_broadcast_leaves_the_root_once}});
}
