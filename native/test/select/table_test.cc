// Tuning tables: what is refused and how, which worlds they fit, and what they say a call takes.
#include "select/table.h"

#include <cstring>
#include <string>

#include "select/explain.h"
#include "support/check.h"

namespace sparkgap::test {
namespace {

constexpr sparkgap_tuning_row kRows[] = {
    {SPARKGAP_ALL_REDUCE, 1024, "host/packets", 0, 0, 0, 0, 0},
    {SPARKGAP_ALL_REDUCE, UINT64_MAX, "host/two-shot", 0, 0, 0, 0, 0},
};
constexpr sparkgap_tuning_time kTimes[] = {
    {SPARKGAP_ALL_REDUCE, "host/packets", 64, 1.0},
    {SPARKGAP_ALL_REDUCE, "host/packets", 128, 3.0},
    {SPARKGAP_ALL_REDUCE, "host/one-shot", 64, 4.0},
};

sparkgap_tuning_table given_table() {
  sparkgap_tuning_table table = {};
  table.name = "test";
  table.provider = "host";
  table.link = -1;
  table.pes_from = table.pes_to = 4;
  table.nodes_from = table.nodes_to = 1;
  table.rows = kRows;
  table.row_count = 2;
  table.times = kTimes;
  table.time_count = 3;
  return table;
}

Circumstances world_of(ProviderKind provider, int pes) {
  Circumstances world;
  world.provider = provider;
  world.pes = pes;
  return world;
}

void expect_refused(const sparkgap_tuning_table& table, const std::vector<const char*>& parts) {
  try {
    copy_table(table);
  } catch (const sparkgap::Failure& failure) {
    expect(failure.status == SPARKGAP_INVALID_ARGUMENT, "status %d: %s", failure.status, failure.message);
    for (const char* part : parts) {
      expect(std::strstr(failure.message, part) != nullptr, "\"%s\" is not in: %s", part, failure.message);
    }
    return;
  }
  expect(false, "a table that lacks \"%s\" was taken", parts.back());
}

void what_is_wrong_is_refused_by_name_row_and_reason() {
  sparkgap_tuning_table table = given_table();
  table.name = "";
  expect_refused(table, {"name"});
  table = given_table();
  table.provider = "smoke";
  expect_refused(table, {"tuning table test", "no provider \"smoke\""});
  table = given_table();
  table.pes_from = 5;
  expect_refused(table, {"tuning table test", "5 to 4 PEs"});
  table = given_table();
  table.nodes_to = 4;
  expect_refused(table, {"tuning table test", "1 to 4 nodes", "make a table for either"});
  table.nodes_from = 2;
  table.device = "A CPU @ 2 GHz";
  expect_refused(table, {"tuning table test", "A CPU @ 2 GHz", "no one device"});
  const auto expect_row_refused = [](const sparkgap_tuning_row& row, const std::vector<const char*>& parts) {
    const sparkgap_tuning_row rows[] = {{SPARKGAP_ALL_REDUCE, 1024, "host/packets", 0, 0, 0, 0, 0}, row};
    sparkgap_tuning_table of_rows = given_table();
    of_rows.rows = rows;
    expect_refused(of_rows, parts);
  };
  expect_row_refused({99, 64, "host/packets", 0, 0, 0, 0, 0}, {"tuning table test, row 1", "no collective 99"});
  expect_row_refused({SPARKGAP_BROADCAST, 64, "host/packets", 0, 0, 0, 0, 0},
                     {"row 1", "broadcast has no route \"host/packets\"", "staged, direct"});
  expect_row_refused({SPARKGAP_ALL_REDUCE, 64, nullptr, 0, 0, 0, 0, 0}, {"row 1", "no route"});
  expect_row_refused({SPARKGAP_ALL_REDUCE, 64, "host/two-shot", 0, 0, 0, 0, 0}, {"row 1", "64 bytes", "1024"});
  expect_row_refused({SPARKGAP_ALL_REDUCE, 2048, "host/two-shot", 8, 31, 0, 0, 0}, {"row 1", "8 blocks of 31 threads"});
  const sparkgap_tuning_time times[] = {{SPARKGAP_ALL_REDUCE, "host/packets", 64, 1},
                                        {SPARKGAP_ALL_REDUCE, "host/packets", 64, 2}};
  table = given_table();
  table.times = times;
  table.time_count = 2;
  expect_refused(table, {"time 1", "order of their sizes"});
  const sparkgap_tuning_time nothing[] = {{SPARKGAP_ALL_REDUCE, "host/packets", 64, 0}};
  table.times = nothing;
  table.time_count = 1;
  expect_refused(table, {"time 0", "more than 0 us"});
  std::vector<sparkgap_tuning_row> many(33, kRows[1]);
  table = given_table();
  table.rows = many.data();
  table.row_count = 33;
  expect_refused(table, {"row 32", "more than 32 rows"});
}

void a_kernel_is_launched_in_no_shape_that_it_is_not_made_for() {
  const auto refuses = [](const char* route, const kernels::Shape& shape) {
    const sparkgap_tuning_row rows[] = {
        {SPARKGAP_ALL_REDUCE, 64, route, shape.blocks, shape.threads, shape.senders, shape.groups, shape.chunk_bytes}};
    sparkgap_tuning_table table = given_table();
    table.provider = "nvshmem";
    table.rows = rows;
    table.row_count = 1;
    table.time_count = 0;
    try {
      copy_table(table);
    } catch (const sparkgap::Failure&) {
      return true;
    }
    return false;
  };
  expect(!refuses("nvshmem/packets", {128, 512, 0, 0, 0}), "packets of 512 threads");
  expect(refuses("nvshmem/packets", {128, 1024, 0, 0, 0}), "packets of 1024 threads");
  expect(!refuses("nvshmem/lines", {128, 1024, 0, 0, 0}), "lines of 1024 threads");
  expect(refuses("nvshmem/one-shot", {128, 512, 0, 4, 4}), "chunks of no bytes");
  expect(refuses("nvshmem/one-shot", {128, 512, 32 << 10, 4, 4}), "chunks of 32 KiB");
  expect(!refuses("nvshmem/one-shot", {128, 512, 8 << 10, 4, 4}), "chunks of 8 KiB");
}

void a_table_fits_the_worlds_of_its_key_alone() {
  const auto why_not = [](const sparkgap_tuning_table& table, const Circumstances& world) {
    char reason[256] = "";
    Text text(reason, sizeof reason);
    const bool fit = fits(copy_table(table), world, text);
    expect(fit == (reason[0] == '\0'), "fits: %d, but: %s", fit, reason);
    return std::string(reason);
  };
  const auto expect_reason = [](const std::string& reason, const char* wanted) {
    expect(reason == wanted, "\"%s\" instead of \"%s\"", reason.c_str(), wanted);
  };
  sparkgap_tuning_table table = given_table();
  Circumstances world = world_of(ProviderKind::kHost, 4);
  expect_reason(why_not(table, world), "");
  expect_reason(why_not(table, world_of(ProviderKind::kHost, 2)), "for 4 PEs, this world has 2");
  expect_reason(why_not(table, world_of(ProviderKind::kNccl, 4)), "for provider host, this world has nccl");
  world.oversubscribed = true;
  expect_reason(why_not(table, world), "for PEs that have one each, this world's share");
  world = world_of(ProviderKind::kNodes, 4);
  world.nodes = 2;
  expect_reason(why_not(table, world), "for 1 nodes, this world has 2");
  table.link = SPARKGAP_LINK_NVLINK;
  expect_reason(why_not(table, world_of(ProviderKind::kHost, 4)), "for links of nvlink, this world has shm");

  table = given_table();
  table.provider = "nvshmem";
  table.row_count = table.time_count = 0;
  table.device = "NVIDIA H200";
  table.nvshmem = "3.4";
  table.lanes_from = 64;
  table.lanes_to = 128;
  world = world_of(ProviderKind::kNvshmem, 4);
  world.lanes = 128;
  world.nvshmem_version = 30405;
  expect_reason(why_not(table, world), "for \"NVIDIA H200\", this world has \"\"");
  std::strcpy(world.device, "NVIDIA H200");
  expect_reason(why_not(table, world), "");
  world.nvshmem_version = 34001;
  expect_reason(why_not(table, world), "for NVSHMEM 3.4, this world has another");
  world.nvshmem_version = 30405;
  world.lanes = 8;
  expect_reason(why_not(table, world), "for 64 to 128 blocks, this world has 8");
}

void the_key_of_a_world_is_of_a_table_that_fits_it_alone() {
  std::vector<Circumstances> worlds;
  worlds.push_back(world_of(ProviderKind::kHost, 4));
  std::strcpy(worlds.back().device, "A CPU @ 2 GHz");
  worlds.push_back(worlds.back());
  worlds.back().oversubscribed = true;
  worlds.push_back(world_of(ProviderKind::kNodes, 4));
  worlds.back().nodes = 2;
  worlds.back().slowest_link = SPARKGAP_LINK_TCP;
  worlds.push_back(worlds.back());
  worlds.back().any_oversubscribed = true;
  worlds.push_back(world_of(ProviderKind::kNvshmem, 2));
  worlds.back().lanes = 128;
  worlds.back().nvshmem_version = 30405;
  worlds.back().slowest_link = SPARKGAP_LINK_NVLINK;
  std::strcpy(worlds.back().device, "NVIDIA H200");
  worlds.push_back(worlds.back());
  worlds.back().lanes = 8;
  worlds.push_back(worlds.back());
  worlds.back().nvshmem_version = 30500;
  worlds.push_back(world_of(ProviderKind::kNccl, 2));
  worlds.back().nccl_version = 22809;
  worlds.push_back(worlds.back());
  worlds.back().gpu_shared = true;
  for (size_t of = 0; of < worlds.size(); ++of) {
    const TuningTable key = key_of(worlds[of]);
    for (size_t in = 0; in < worlds.size(); ++in) {
      char reason[256] = "";
      Text why_not(reason, sizeof reason);
      expect(fits(key, worlds[in], why_not) == (of == in), "the key of world %zu in world %zu: %s", of, in, reason);
    }
  }
  expect(key_of(worlds[4]).nvshmem == "3.4.5" && key_of(worlds[4]).nccl.empty(), "%s",
         key_of(worlds[4]).nvshmem.c_str());
}

void digests_differ_where_anything_does() {
  const uint64_t digest = copy_table(given_table()).digest;
  expect(copy_table(given_table()).digest == digest, "the same twice");
  sparkgap_tuning_table table = given_table();
  table.time_count = 2;
  expect(copy_table(table).digest != digest, "a time less");
  table = given_table();
  table.pes_to = 5;
  expect(copy_table(table).digest != digest, "another key");
  table = given_table();
  table.name = "tes";
  expect(copy_table(table).digest != digest, "another name");
}

void times_between_two_that_were_measured_are_interpolated_and_others_estimated() {
  const TuningTable table = copy_table(given_table());
  const auto time = [&](Algorithm algorithm, uint64_t bytes) {
    return table.time_of(SPARKGAP_ALL_REDUCE, algorithm, bytes);
  };
  expect(time(Algorithm::kPackets, 64) == 1.0 && time(Algorithm::kPackets, 96) == 2.0, "packets");
  expect(time(Algorithm::kPackets, 32) == 0 && time(Algorithm::kPackets, 129) == 0, "outside");
  expect(time(Algorithm::kTwoShot, 64) == 0, "never measured");

  const Circumstances world = world_of(ProviderKind::kHost, 4);
  Routes routes;
  routes.make(world);
  routes.make(SPARKGAP_ALL_REDUCE, world, table.rows_of(SPARKGAP_ALL_REDUCE), Algorithm::kAuto);
  const Explanation explanation = explain(SPARKGAP_ALL_REDUCE, 64, world, routes, &table);
  expect(explanation.choice.algorithm == Algorithm::kPackets && explanation.choice.reason == Reason::kTable, "choice");
  expect(explanation.estimate.measured && explanation.estimate.us == 1.0, "%g us", explanation.estimate.us);
  expect(explanation.next != Algorithm::kAuto && explanation.next != Algorithm::kPackets, "next");
  expect(explanation.next_estimate.us > 0, "next takes %g us", explanation.next_estimate.us);
}

void the_only_way_has_no_next() {
  const Circumstances world = world_of(ProviderKind::kHost, 4);
  Routes routes;
  routes.make(world);
  const Explanation explanation = explain(SPARKGAP_BARRIER, 0, world, routes, nullptr);
  expect(explanation.choice.algorithm == Algorithm::kFlags && explanation.next == Algorithm::kAuto, "barrier");
  expect(explanation.estimate.us > 0 && !explanation.estimate.measured, "%g us", explanation.estimate.us);
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"what_is_wrong_is_refused_by_name_row_and_reason", what_is_wrong_is_refused_by_name_row_and_reason},
       {"a_kernel_is_launched_in_no_shape_that_it_is_not_made_for",
        a_kernel_is_launched_in_no_shape_that_it_is_not_made_for},
       {"a_table_fits_the_worlds_of_its_key_alone", a_table_fits_the_worlds_of_its_key_alone},
       {"the_key_of_a_world_is_of_a_table_that_fits_it_alone", the_key_of_a_world_is_of_a_table_that_fits_it_alone},
       {"digests_differ_where_anything_does", digests_differ_where_anything_does},
       {"times_between_two_that_were_measured_are_interpolated_and_others_estimated",
        times_between_two_that_were_measured_are_interpolated_and_others_estimated},
       {"the_only_way_has_no_next", the_only_way_has_no_next}});
}
