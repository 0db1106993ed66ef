// Selection is a pure function: what it may say for each provider, size and world.
#include "select.h"

#include <cstring>

#include "device/kernels.h"
#include "support/check.h"

namespace sparkgap::test {
namespace {

constexpr ProviderKind kProviders[] = {ProviderKind::kHost, ProviderKind::kNvshmem, ProviderKind::kNccl};

Circumstances circumstances_of(ProviderKind provider, int pes, int lanes) {
  Circumstances circumstances;
  circumstances.provider = provider;
  circumstances.pes = pes;
  circumstances.lanes = lanes;
  return circumstances;
}

template <class Use>
void for_each_call(const Use& use) {
  for (int collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
    for (uint64_t bytes = 1; bytes <= uint64_t{1} << 32; bytes *= 2) {
      for (const uint64_t size : {bytes - 1, bytes, bytes + 1}) use(collective, size);
    }
  }
}

void what_is_selected_is_there_and_can_carry_the_message() {
  for (const ProviderKind provider : kProviders) {
    for (const int pes : {1, 2, 3, 8, 16}) {
      for (const int lanes : {1, 8, kernels::kMaxLanes}) {
        const Circumstances circumstances = circumstances_of(provider, pes, lanes);
        for_each_call([&](int collective, uint64_t bytes) {
          const Algorithm selected = select(collective, bytes, circumstances);
          const char* route = route_name(provider, selected);
          const char* name = std::strchr(route, '/');
          expect(name != nullptr, "collective %d, %lu bytes: the route is \"%s\"", collective, bytes, route);
          Algorithm found = Algorithm::kAuto;
          expect(find_algorithm(collective, name + 1, provider, &found) && found == selected,
                 "collective %d has no algorithm %s", collective, name + 1);
          expect(can_carry(selected, bytes, circumstances), "%s cannot carry %lu bytes", route, bytes);
        });
      }
    }
  }
}

void nccl_alone_is_left_where_gpus_cannot_reach_each_other() {
  const Circumstances circumstances = circumstances_of(ProviderKind::kNccl, 2, 0);
  for_each_call([&](int collective, uint64_t bytes) {
    expect(select(collective, bytes, circumstances) == Algorithm::kDefault, "collective %d, %lu bytes", collective,
           bytes);
    expect(!can_carry(Algorithm::kTwoShot, bytes, circumstances), "%lu bytes without lanes", bytes);
  });
}

void small_all_reduces_on_gpus_go_in_packets_and_large_ones_do_not() {
  for (const int pes : {2, 4, 8}) {
    const Circumstances circumstances = circumstances_of(ProviderKind::kNvshmem, pes, kernels::kMaxLanes);
    expect(select(SPARKGAP_ALL_REDUCE, 64 << 10, circumstances) == Algorithm::kPackets, "64 KiB, %d PEs", pes);
    expect(select(SPARKGAP_ALL_REDUCE, 4 << 20, circumstances) == Algorithm::kTwoShot, "4 MiB, %d PEs", pes);
  }
  // Fewer lanes carry less.
  const Circumstances narrow = circumstances_of(ProviderKind::kNvshmem, 2, 2);
  expect(select(SPARKGAP_ALL_REDUCE, 2 * kernels::kLanePacketBytes, narrow) == Algorithm::kPackets, "full lanes");
  expect(select(SPARKGAP_ALL_REDUCE, 2 * kernels::kLanePacketBytes + 1, narrow) == Algorithm::kTwoShot, "one more");
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"what_is_selected_is_there_and_can_carry_the_message", what_is_selected_is_there_and_can_carry_the_message},
       {"nccl_alone_is_left_where_gpus_cannot_reach_each_other", nccl_alone_is_left_where_gpus_cannot_reach_each_other},
       {"small_all_reduces_on_gpus_go_in_packets_and_large_ones_do_not",
        small_all_reduces_on_gpus_go_in_packets_and_large_ones_do_not}});
}
