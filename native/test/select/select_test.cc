// What a world chooses by the rules that are built in, by a table and by what is held: for each provider, size and
// world.
#include <cstring>
#include <string>

#include "protocol/kernel_world.h"
#include "select/routes.h"
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

Algorithm select(int32_t collective, uint64_t bytes, const Circumstances& circumstances) {
  Routes routes;
  routes.make(collective, circumstances, {}, Algorithm::kAuto);
  return routes.choose(collective, bytes);
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
        Circumstances circumstances = circumstances_of(provider, pes, lanes);
        circumstances.pcie = lanes == 8;
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

void all_reduces_on_gpus_go_in_packets_then_lines_then_chunks() {
  for (const int pes : {2, 4, 8}) {
    const Circumstances circumstances = circumstances_of(ProviderKind::kNvshmem, pes, kernels::kMaxLanes);
    expect(select(SPARKGAP_ALL_REDUCE, 4 << 10, circumstances) == Algorithm::kPackets, "4 KiB, %d PEs", pes);
    expect(select(SPARKGAP_ALL_REDUCE, 100 << 10, circumstances) == Algorithm::kLines, "100 KiB, %d PEs", pes);
    const Algorithm large = pes == 2 ? Algorithm::kOneShot : Algorithm::kTwoShot;
    expect(select(SPARKGAP_ALL_REDUCE, 256 << 20, circumstances) == large, "256 MiB, %d PEs", pes);
  }
}

void large_all_reduces_go_round_a_ring_only_over_pci_express() {
  constexpr uint64_t kLarge = uint64_t{1} << 30;
  for (const ProviderKind provider : {ProviderKind::kNvshmem, ProviderKind::kNccl}) {
    for (const int pes : {1, 2, 3, 4, 8, 16}) {
      Circumstances circumstances = circumstances_of(provider, pes, kernels::kMaxLanes);
      const Algorithm otherwise = pes > 2 ? Algorithm::kTwoShot : Algorithm::kOneShot;
      expect(select(SPARKGAP_ALL_REDUCE, kLarge, circumstances) == otherwise, "NVLink, %d PEs", pes);
      circumstances.pcie = true;
      const Algorithm expected = pes > 2 ? Algorithm::kRing : otherwise;
      expect(select(SPARKGAP_ALL_REDUCE, kLarge, circumstances) == expected, "PCI Express, %d PEs", pes);
      for_each_call([&](int collective, uint64_t bytes) {
        const bool may = collective == SPARKGAP_ALL_REDUCE && pes > 2 && bytes >= uint64_t{2} << 20;
        expect(may || select(collective, bytes, circumstances) != Algorithm::kRing, "collective %d, %lu bytes, %d PEs",
               collective, bytes, pes);
      });
    }
  }
}

void a_route_is_named_by_provider_and_algorithm() {
  expect(std::strcmp(route_name(ProviderKind::kHost, Algorithm::kOneShot), "host/one-shot") == 0, "one-shot");
  expect(std::strcmp(route_name(ProviderKind::kNvshmem, Algorithm::kRing), "nvshmem/ring") == 0, "ring");
  expect(std::strcmp(route_name(ProviderKind::kNccl, Algorithm::kDefault), "nccl/default") == 0, "default");
  expect(std::strcmp(route_name(ProviderKind::kNvshmem, Algorithm::kDefault), "nccl/default") == 0, "beside NVSHMEM");
  expect(route_name(ProviderKind::kNccl, Algorithm::kAuto)[0] == '\0', "auto is no route");
  Algorithm found = Algorithm::kAuto;
  expect(!find_algorithm(SPARKGAP_ALL_REDUCE, "ring", ProviderKind::kHost, &found), "a ring on the host");
  expect(!find_algorithm(SPARKGAP_ALL_REDUCE, "shot", ProviderKind::kHost, &found), "a part of a name");
  expect(!find_algorithm(SPARKGAP_ALL_REDUCE, "", ProviderKind::kHost, &found), "no name");
}

void between_nodes_it_is_few_messages_for_small_ones_and_few_bytes_for_large_ones() {
  const auto selected = [](int nodes, int pes, bool oversubscribed, int32_t collective, uint64_t bytes) {
    Circumstances circumstances = circumstances_of(ProviderKind::kNodes, pes, 0);
    circumstances.nodes = nodes;
    circumstances.any_oversubscribed = oversubscribed;
    circumstances.one_trip_bytes = 16 << 10;
    return std::string(algorithm_name(select(collective, bytes, circumstances)));
  };
  const auto expect_selected = [](const std::string& found, const char* wanted, const char* where) {
    expect(found == wanted, "%s: %s instead of %s", where, found.c_str(), wanted);
  };
  expect_selected(selected(2, 2, false, SPARKGAP_ALL_REDUCE, 64), "one-trip", "64 B, a PE a node");
  expect_selected(selected(2, 2, true, SPARKGAP_ALL_REDUCE, 64), "one-trip", "64 B, a PE a node, on one core");
  expect_selected(selected(2, 4, false, SPARKGAP_ALL_REDUCE, 64), "one-trip", "64 B, two PEs a node");
  expect_selected(selected(2, 4, true, SPARKGAP_ALL_REDUCE, 64), "rails", "64 B, two PEs a node that share cores");
  expect_selected(selected(2, 2, false, SPARKGAP_ALL_REDUCE, 64 << 20), "rails", "64 MiB, two nodes");
  expect_selected(selected(3, 3, false, SPARKGAP_ALL_REDUCE, 64 << 10), "rails", "64 KiB, three nodes");
  expect_selected(selected(3, 3, false, SPARKGAP_ALL_REDUCE, 64 << 20), "scattered-rails", "64 MiB, three nodes");
  expect_selected(selected(4, 8, true, SPARKGAP_REDUCE, 1 << 20), "scattered-rails", "reduce of 1 MiB, four nodes");
  expect_selected(selected(2, 2, false, SPARKGAP_BROADCAST, 64 << 20), "rails", "broadcast of 64 MiB, two nodes");
  expect_selected(selected(3, 3, false, SPARKGAP_BROADCAST, 64 << 10), "rails", "broadcast of 64 KiB, three nodes");
  expect_selected(selected(3, 6, true, SPARKGAP_BROADCAST, 1 << 20), "scattered-rails",
                  "broadcast of 1 MiB, three nodes");
}

void a_table_is_followed_as_far_as_it_goes() {
  const Circumstances circumstances = circumstances_of(ProviderKind::kHost, 4, 0);
  const TableRow rows[] = {{1 << 10, Algorithm::kPackets, {}},
                           {1 << 20, Algorithm::kTwoShot, {}},
                           {2 << 20, Algorithm::kRing, {}},  // which the host does not have
                           {4 << 20, Algorithm::kOneShot, {}}};
  Routes routes;
  routes.make(circumstances);
  routes.make(SPARKGAP_ALL_REDUCE, circumstances, {rows, 4}, Algorithm::kAuto);
  const auto expect_choice = [&](uint64_t bytes, Algorithm algorithm, Reason reason) {
    const Routes::Choice choice = routes.choice(SPARKGAP_ALL_REDUCE, bytes);
    expect(choice.algorithm == algorithm && choice.reason == reason, "%lu bytes: %s, reason %d", bytes,
           algorithm_name(choice.algorithm), static_cast<int>(choice.reason));
  };
  expect_choice(0, Algorithm::kPackets, Reason::kTable);
  expect_choice(1 << 10, Algorithm::kPackets, Reason::kTable);
  expect_choice((1 << 10) + 1, Algorithm::kTwoShot, Reason::kTable);
  expect_choice((1 << 20) + 1, Algorithm::kOneShot, Reason::kTable);
  expect_choice((4 << 20) + 1, Algorithm::kDirect, Reason::kRule);
  expect(routes.choice(SPARKGAP_BROADCAST, 64).reason == Reason::kRule, "a collective that is not in the table");
}

void what_is_held_goes_before_the_table_as_far_as_it_carries() {
  const Circumstances circumstances = circumstances_of(ProviderKind::kHost, 4, 0);
  const TableRow rows[] = {{~0ull, Algorithm::kTwoShot, {}}};
  Routes routes;
  routes.make(SPARKGAP_ALL_REDUCE, circumstances, {rows, 1}, Algorithm::kPackets);
  const uint64_t most = capacity_of(Algorithm::kPackets, circumstances).bytes;
  expect(routes.choice(SPARKGAP_ALL_REDUCE, most).reason == Reason::kHeld, "held");
  expect(routes.choose(SPARKGAP_ALL_REDUCE, most) == Algorithm::kPackets, "packets");
  expect(routes.choose(SPARKGAP_ALL_REDUCE, most + 1) == Algorithm::kTwoShot, "more than packets carry");
  routes.make(SPARKGAP_ALL_REDUCE, circumstances, {rows, 1}, Algorithm::kAuto);
  expect(routes.choose(SPARKGAP_ALL_REDUCE, 64) == Algorithm::kTwoShot, "given back");
}

void arrays_on_the_host_are_read_where_they_are_from_some_kib_on() {
  struct Limit {
    int32_t collective;
    bool oversubscribed;
    uint64_t bytes;
  };
  for (const Limit& limit : {Limit{SPARKGAP_REDUCE_SCATTER, false, 2048}, Limit{SPARKGAP_ALL_GATHER, false, 4096},
                             Limit{SPARKGAP_BROADCAST, false, 8192}, Limit{SPARKGAP_ALL_REDUCE, true, 32768},
                             Limit{SPARKGAP_ALL_TO_ALL, true, 32768}, Limit{SPARKGAP_REDUCE, true, 65536}}) {
    for (const int pes : {2, 4}) {
      Circumstances circumstances = circumstances_of(ProviderKind::kHost, pes, 0);
      circumstances.oversubscribed = limit.oversubscribed;
      for (const uint64_t bytes : {limit.bytes - 1, limit.bytes}) {
        const bool direct = select(limit.collective, bytes, circumstances) == Algorithm::kDirect;
        expect(direct == (bytes == limit.bytes), "collective %d, %d PEs, %lu bytes", limit.collective, pes, bytes);
      }
    }
  }
}

void arrays_that_cannot_be_read_go_by_the_next_row() {
  const Circumstances circumstances = circumstances_of(ProviderKind::kHost, 4, 0);
  const TableRow rows[] = {{4 << 10, Algorithm::kDirect, {}}, {1 << 20, Algorithm::kOneShot, {}}};
  for (const Algorithm held : {Algorithm::kAuto, Algorithm::kDirect}) {
    Routes routes;
    routes.make(SPARKGAP_ALL_REDUCE, circumstances, {rows, 2}, held);
    expect(routes.choose(SPARKGAP_ALL_REDUCE, 64) == Algorithm::kDirect, "64 B");
    expect(routes.choose_for_any_memory(SPARKGAP_ALL_REDUCE, 64) == Algorithm::kOneShot, "64 B, private");
    expect(routes.choose_for_any_memory(SPARKGAP_ALL_REDUCE, 8 << 20) == Algorithm::kTwoShot, "8 MiB, private");
  }
  for_each_call([&](int collective, uint64_t bytes) {
    Routes routes;
    routes.make(collective, circumstances, {}, Algorithm::kAuto);
    expect(!needs_readable_arrays(routes.choose_for_any_memory(collective, bytes)), "collective %d, %lu bytes",
           collective, bytes);
  });
}

void what_may_give_other_bits_is_left_out_where_the_same_are_asked_for() {
  for (const int lanes : {0, kernels::kMaxLanes}) {
    Circumstances circumstances = circumstances_of(ProviderKind::kNccl, 4, lanes);
    circumstances.deterministic = true;
    const TableRow rows[] = {{~0ull, Algorithm::kDefault, {}}};
    for_each_call([&](int collective, uint64_t bytes) {
      Routes routes;
      routes.make(collective, circumstances, {rows, 1}, Algorithm::kDefault);
      const Algorithm chosen = routes.choose(collective, bytes);
      if (!kCollectives[collective].has_op) {
        expect(chosen == Algorithm::kDefault, "collective %d reduces nothing", collective);
      } else {
        expect((chosen == Algorithm::kAuto) == (lanes == 0) && chosen != Algorithm::kDefault, "collective %d: %s",
               collective, algorithm_name(chosen));
      }
    });
  }
}

void worlds_of_nvshmem_go_by_nccl_where_it_is_beside_and_a_table_says_so() {
  Circumstances circumstances = circumstances_of(ProviderKind::kNvshmem, 2, kernels::kMaxLanes);
  const TableRow rows[] = {{1 << 20, Algorithm::kLines, {}}, {~0ull, Algorithm::kDefault, {}}};
  for (const bool beside : {true, false}) {
    circumstances.nccl_beside = beside;
    for_each_call([&](int collective, uint64_t bytes) {
      if (!has_algorithm(ProviderKind::kNvshmem, collective, Algorithm::kLines)) return;
      Routes routes;
      routes.make(collective, circumstances, {rows, 2}, Algorithm::kAuto);
      const Algorithm chosen = routes.choose(collective, bytes);
      expect(routes.takes(Algorithm::kDefault) == beside, "collective %d takes it", collective);
      expect((chosen == Algorithm::kDefault) == (beside && bytes > 1 << 20), "collective %d, %lu bytes: %s", collective,
             bytes, algorithm_name(chosen));
    });
  }
  circumstances.nccl_beside = true;
  for_each_call([&](int collective, uint64_t bytes) {
    expect(select(collective, bytes, circumstances) != Algorithm::kDefault, "collective %d, %lu bytes, by the rules",
           collective, bytes);
  });
}

void a_kernel_has_the_shape_of_its_row_and_else_the_one_that_is_built_in() {
  Circumstances circumstances = circumstances_of(ProviderKind::kNvshmem, 2, kernels::kMaxLanes);
  const kernels::Shape shape = {8, 64, 0, 0, 0};
  const TableRow rows[] = {{1 << 10, Algorithm::kPackets, shape}, {64 << 10, Algorithm::kLines, {}}};
  Routes routes;
  Routes rules;
  routes.make(SPARKGAP_ALL_REDUCE, circumstances, {rows, 2}, Algorithm::kAuto);
  rules.make(SPARKGAP_ALL_REDUCE, circumstances, {}, Algorithm::kAuto);
  const auto same = [](const kernels::Shape& a, const kernels::Shape& b) {
    return a.blocks == b.blocks && a.threads == b.threads && a.chunk_bytes == b.chunk_bytes;
  };
  expect(same(routes.shape(SPARKGAP_ALL_REDUCE, Algorithm::kPackets, 64), shape), "the table's");
  for (uint64_t bytes = 2 << 10; bytes <= 256 << 20; bytes *= 2) {
    for (const Algorithm algorithm : {Algorithm::kLines, Algorithm::kOneShot, Algorithm::kTwoShot}) {
      expect(
          same(routes.shape(SPARKGAP_ALL_REDUCE, algorithm, bytes), rules.shape(SPARKGAP_ALL_REDUCE, algorithm, bytes)),
          "%s, %lu bytes", algorithm_name(algorithm), bytes);
    }
  }
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"what_is_selected_is_there_and_can_carry_the_message", what_is_selected_is_there_and_can_carry_the_message},
       {"large_all_reduces_go_round_a_ring_only_over_pci_express",
        large_all_reduces_go_round_a_ring_only_over_pci_express},
       {"a_table_is_followed_as_far_as_it_goes", a_table_is_followed_as_far_as_it_goes},
       {"what_is_held_goes_before_the_table_as_far_as_it_carries",
        what_is_held_goes_before_the_table_as_far_as_it_carries},
       {"arrays_on_the_host_are_read_where_they_are_from_some_kib_on",
        arrays_on_the_host_are_read_where_they_are_from_some_kib_on},
       {"arrays_that_cannot_be_read_go_by_the_next_row", arrays_that_cannot_be_read_go_by_the_next_row},
       {"what_may_give_other_bits_is_left_out_where_the_same_are_asked_for",
        what_may_give_other_bits_is_left_out_where_the_same_are_asked_for},
       {"a_kernel_has_the_shape_of_its_row_and_else_the_one_that_is_built_in",
        a_kernel_has_the_shape_of_its_row_and_else_the_one_that_is_built_in},
       {"worlds_of_nvshmem_go_by_nccl_where_it_is_beside_and_a_table_says_so",
        worlds_of_nvshmem_go_by_nccl_where_it_is_beside_and_a_table_says_so},
       {"a_route_is_named_by_provider_and_algorithm", a_route_is_named_by_provider_and_algorithm},
       {"nccl_alone_is_left_where_gpus_cannot_reach_each_other", nccl_alone_is_left_where_gpus_cannot_reach_each_other},
       {"all_reduces_on_gpus_go_in_packets_then_lines_then_chunks",
        all_reduces_on_gpus_go_in_packets_then_lines_then_chunks},
       {"between_nodes_it_is_few_messages_for_small_ones_and_few_bytes_for_large_ones",
        between_nodes_it_is_few_messages_for_small_ones_and_few_bytes_for_large_ones}});
}
