// Worlds that go by tuning tables: which they take, that all PEs have the same, and how a choice is explained.
#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "protocol/expect_failure.h"
#include "protocol/handle.h"
#include "support/check.h"

namespace sparkgap::test {
namespace {

constexpr sparkgap_tuning_row kRows[] = {
    {SPARKGAP_ALL_REDUCE, 128, "host/one-shot", 0, 0, 0, 0, 0},
    {SPARKGAP_ALL_REDUCE, UINT64_MAX, "host/two-shot", 0, 0, 0, 0, 0},
};
constexpr sparkgap_tuning_time kTimes[] = {{SPARKGAP_ALL_REDUCE, "host/one-shot", 64, 12.5},
                                           {SPARKGAP_ALL_REDUCE, "host/packets", 64, 9.5}};

sparkgap_tuning_table table_for(const char* name, int32_t pes, int32_t shared) {
  sparkgap_tuning_table table = {};
  table.name = name;
  table.provider = "host";
  table.link = -1;
  table.pes_from = table.pes_to = pes;
  table.nodes_from = table.nodes_to = 1;
  table.shared = shared;
  table.rows = kRows;
  table.row_count = 2;
  table.times = kTimes;
  table.time_count = 2;
  return table;
}

// Of two PEs, for whatever CPUs this machine has.
std::vector<sparkgap_tuning_table> tables_for_two() {
  return {table_for("three", 3, 0), table_for("apart", 2, 0), table_for("together", 2, 1)};
}

sparkgap_status connect_both(const Handle& pe_0, const Handle& pe_1, sparkgap_status* of_pe_1) {
  uint8_t id[SPARKGAP_WORLD_ID_BYTES];
  expect(sparkgap_world_id(pe_0, id) == SPARKGAP_OK, "no world id: %s", sparkgap_last_error(pe_0));
  std::thread other([&] { *of_pe_1 = sparkgap_world_connect(pe_1, id); });
  const sparkgap_status of_pe_0 = sparkgap_world_connect(pe_0, id);
  other.join();
  return of_pe_0;
}

void give(const Handle& pe, const std::vector<sparkgap_tuning_table>& tables) {
  expect(sparkgap_world_set_tables(pe, tables.data(), static_cast<int32_t>(tables.size())) == SPARKGAP_OK, "%s",
         sparkgap_last_error(pe));
}

std::string route_of(const Handle& pe, uint64_t count) {
  return sparkgap_route(pe, SPARKGAP_ALL_REDUCE, count, SPARKGAP_FLOAT32);
}

void the_first_table_that_fits_is_taken_and_the_others_are_told() {
  const Handle pe_0(0);
  const Handle pe_1(1);
  for (const Handle* pe : {&pe_0, &pe_1}) give(*pe, tables_for_two());
  expect(std::strcmp(sparkgap_world_tables_told(pe_0), "") == 0, "told before connect");
  sparkgap_status status = SPARKGAP_OK;
  expect(connect_both(pe_0, pe_1, &status) == SPARKGAP_OK && status == SPARKGAP_OK, "%s", sparkgap_last_error(pe_0));
  const std::string told = sparkgap_world_tables_told(pe_0);
  expect(told.find("passed over three (for 3 PEs, this world has 2)") != std::string::npos, "told: %s", told.c_str());
  expect(told.rfind("table apart;", 0) == 0 || told.rfind("table together;", 0) == 0, "told: %s", told.c_str());
  expect(route_of(pe_0, 32) == "host/one-shot" && route_of(pe_1, 32) == "host/one-shot", "128 B");
  expect(route_of(pe_0, 33) == "host/two-shot", "132 B");

  float sums[2][64];
  std::thread other([&] {
    for (int i = 0; i < 64; ++i) sums[1][i] = 2;
    status = sparkgap_all_reduce(pe_1, sums[1], sums[1], 64, SPARKGAP_FLOAT32, SPARKGAP_SUM);
  });
  for (int i = 0; i < 64; ++i) sums[0][i] = 1;
  const sparkgap_status own = sparkgap_all_reduce(pe_0, sums[0], sums[0], 64, SPARKGAP_FLOAT32, SPARKGAP_SUM);
  other.join();
  expect(own == SPARKGAP_OK && status == SPARKGAP_OK && sums[0][63] == 3 && sums[1][0] == 3, "the sum: %s",
         sparkgap_last_error(pe_0));
  const sparkgap_tuning_table late = table_for("late", 2, 0);
  expect_failure(pe_0, sparkgap_world_set_tables(pe_0, &late, 1), SPARKGAP_INVALID_ARGUMENT, {"before", "connected"});
}

void a_table_of_a_worlds_own_key_is_taken_in_the_next() {
  sparkgap_tuning_table made = {};
  const Handle of_key_0(0);
  const Handle of_key_1(1);
  expect_failure(of_key_0, sparkgap_world_key(of_key_0, &made), SPARKGAP_INVALID_ARGUMENT, {"not connected"});
  sparkgap_status status = SPARKGAP_OK;
  expect(connect_both(of_key_0, of_key_1, &status) == SPARKGAP_OK, "%s", sparkgap_last_error(of_key_0));
  expect(sparkgap_world_key(of_key_0, &made) == SPARKGAP_OK, "%s", sparkgap_last_error(of_key_0));
  expect(std::string(made.provider) == "host" && made.link == SPARKGAP_LINK_SHM && made.pes_from == 2 &&
             made.pes_to == 2 && made.nodes_to == 1 && made.row_count == 0,
         "the key");
  expect_failure(of_key_0, sparkgap_world_key(of_key_0, nullptr), SPARKGAP_INVALID_ARGUMENT, {"key"});
  made.name = "made";
  made.rows = kRows;
  made.row_count = 2;
  const Handle pe_0(0);
  const Handle pe_1(1);
  for (const Handle* pe : {&pe_0, &pe_1}) give(*pe, {made});
  expect(connect_both(pe_0, pe_1, &status) == SPARKGAP_OK, "%s", sparkgap_last_error(pe_0));
  expect(std::strcmp(sparkgap_world_tables_told(pe_0), "table made") == 0, "told: %s",
         sparkgap_world_tables_told(pe_0));
}

void a_choice_is_explained_with_the_next_best() {
  const Handle pe_0(0);
  const Handle pe_1(1);
  sparkgap_explanation found = {};
  for (const Handle* pe : {&pe_0, &pe_1}) give(*pe, tables_for_two());
  sparkgap_status status = SPARKGAP_OK;
  expect(connect_both(pe_0, pe_1, &status) == SPARKGAP_OK, "%s", sparkgap_last_error(pe_0));
  const auto explain = [&](uint64_t count) {
    expect(sparkgap_explain(pe_0, SPARKGAP_ALL_REDUCE, count, SPARKGAP_FLOAT32, &found) == SPARKGAP_OK, "%s",
           sparkgap_last_error(pe_0));
    return std::string(found.route);
  };
  expect(explain(16) == "host/one-shot" && found.reason == SPARKGAP_BY_TABLE, "64 B");
  expect(found.measured == 1 && found.microseconds == 12.5, "64 B: %g us", found.microseconds);
  expect(std::strlen(found.table) > 4, "table \"%s\"", found.table);
  expect(std::strlen(found.next_route) > 0 && found.next_microseconds > 0, "next");
  expect(explain(1 << 20) == "host/two-shot" && found.measured == 0 && found.microseconds > 0, "4 MiB");
  expect(sparkgap_world_set_algorithm(pe_0, SPARKGAP_ALL_REDUCE, "host/packets") == SPARKGAP_OK, "%s",
         sparkgap_last_error(pe_0));
  expect(explain(16) == "host/packets" && found.reason == SPARKGAP_BY_HOLD && found.microseconds == 9.5, "held");
  expect_failure(pe_0, sparkgap_world_set_algorithm(pe_0, SPARKGAP_ALL_REDUCE, "nccl/default"),
                 SPARKGAP_INVALID_ARGUMENT, {"nccl/default", "in a world of host", "one-shot"});
  expect_failure(pe_0, sparkgap_explain(pe_0, SPARKGAP_ALL_REDUCE, 1, SPARKGAP_FLOAT32, nullptr),
                 SPARKGAP_INVALID_ARGUMENT, {"explanation"});
  expect_failure(pe_0, sparkgap_explain(pe_0, 99, 1, SPARKGAP_FLOAT32, &found), SPARKGAP_INVALID_ARGUMENT, {"99"});
}

void different_tables_are_refused_on_all_pes() {
  const Handle pe_0(0);
  const Handle pe_1(1);
  give(pe_0, {table_for("apart", 2, 0)});
  sparkgap_status status = SPARKGAP_OK;
  const sparkgap_status own = connect_both(pe_0, pe_1, &status);
  expect(status == SPARKGAP_MISMATCH, "status %d of PE 1: %s", status, sparkgap_last_error(pe_1));
  expect_failure(pe_0, own, SPARKGAP_MISMATCH, {"spark.sparkgap.tuning.table", "none on PE 1"});
}

void pes_that_differ_in_deterministic_are_refused() {
  const Handle pe_0(0);
  const Handle pe_1(1);
  expect(sparkgap_world_set_deterministic(pe_0, 1) == SPARKGAP_OK, "%s", sparkgap_last_error(pe_0));
  sparkgap_status status = SPARKGAP_OK;
  const sparkgap_status own = connect_both(pe_0, pe_1, &status);
  expect(status == SPARKGAP_MISMATCH, "status %d of PE 1: %s", status, sparkgap_last_error(pe_1));
  expect_failure(pe_0, own, SPARKGAP_MISMATCH, {"spark.sparkgap.deterministic", "on on PE 0", "off on PE 1"});
}

void hints_are_believed_and_what_cannot_be_is_refused_with_what_can() {
  const Handle pe_0(0);
  const Handle pe_1(1);
  const auto expect_refused = [&](const char* hints, const std::vector<std::string>& parts) {
    expect_failure(pe_0, sparkgap_world_set_topology(pe_0, hints), SPARKGAP_INVALID_ARGUMENT, parts);
  };
  expect_refused("links=nvlink", {"links=nvlink", "host memory, one node", "can be shm"});
  expect_refused("shared=perhaps", {"shared=perhaps", "true or false"});
  expect_refused("latency=-1", {"latency=-1", "microseconds"});
  expect_refused("bandwidth=1x", {"bandwidth=1x", "GB/s"});
  expect_refused("colour=red", {"colour=red", "links, shared, latency and bandwidth"});
  // Whatever the CPUs of this machine are.
  for (const Handle* pe : {&pe_0, &pe_1}) {
    give(*pe, tables_for_two());
    expect(sparkgap_world_set_topology(*pe, "shared=true,links=shm") == SPARKGAP_OK, "%s", sparkgap_last_error(*pe));
  }
  sparkgap_status status = SPARKGAP_OK;
  expect(connect_both(pe_0, pe_1, &status) == SPARKGAP_OK, "%s", sparkgap_last_error(pe_0));
  expect(std::strncmp(sparkgap_world_tables_told(pe_0), "table together", 14) == 0, "told: %s",
         sparkgap_world_tables_told(pe_0));
}

void a_broken_table_leaves_a_world_without_and_good() {
  const Handle pe_0(0);
  const Handle pe_1(1);
  const sparkgap_tuning_row rows[] = {{SPARKGAP_ALL_REDUCE, 64, "host/smoke", 0, 0, 0, 0, 0}};
  std::vector<sparkgap_tuning_table> tables = tables_for_two();
  tables[2].rows = rows;
  tables[2].row_count = 1;
  for (const Handle* pe : {&pe_0, &pe_1}) {
    expect_failure(*pe, sparkgap_world_set_tables(*pe, tables.data(), 3), SPARKGAP_INVALID_ARGUMENT,
                   {"tuning table together, row 0", "host/smoke"});
  }
  sparkgap_status status = SPARKGAP_OK;
  expect(connect_both(pe_0, pe_1, &status) == SPARKGAP_OK, "%s", sparkgap_last_error(pe_0));
  expect(std::strcmp(sparkgap_world_tables_told(pe_0), "") == 0, "told: %s", sparkgap_world_tables_told(pe_0));
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"the_first_table_that_fits_is_taken_and_the_others_are_told",
        the_first_table_that_fits_is_taken_and_the_others_are_told},
       {"a_table_of_a_worlds_own_key_is_taken_in_the_next", a_table_of_a_worlds_own_key_is_taken_in_the_next},
       {"a_choice_is_explained_with_the_next_best", a_choice_is_explained_with_the_next_best},
       {"different_tables_are_refused_on_all_pes", different_tables_are_refused_on_all_pes},
       {"pes_that_differ_in_deterministic_are_refused", pes_that_differ_in_deterministic_are_refused},
       {"hints_are_believed_and_what_cannot_be_is_refused_with_what_can",
        hints_are_believed_and_what_cannot_be_is_refused_with_what_can},
       {"a_broken_table_leaves_a_world_without_and_good", a_broken_table_leaves_a_world_without_and_good}});
}
