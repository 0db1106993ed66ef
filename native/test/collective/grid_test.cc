// Every collective by every algorithm on every type and operation, for counts around everything that matters, in and
// out of place, in private and symmetric memory; compared with a scalar reference, and between the PEs.
#include "collective/grid.h"

#include <algorithm>
#include <cstring>

#include "collective/algorithms.h"
#include "support/check.h"
#include "support/reference.h"

namespace sparkgap::test {
namespace {

void route_names_the_algorithm_that_is_held() {
  run_pes({2}, [](const Pe& pe) {
    for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
      const std::string selected = sparkgap_route(pe.world(), collective, 1000, SPARKGAP_INT8);
      for (const char* algorithm : algorithms_of(collective)) {
        pe.ok(sparkgap_world_set_algorithm(pe.world(), collective, algorithm), "sparkgap_world_set_algorithm");
        const std::string route = sparkgap_route(pe.world(), collective, 1000, SPARKGAP_INT8);
        const std::string expected = std::strcmp(algorithm, "auto") == 0 ? selected : std::string("host/") + algorithm;
        expect(route == expected, "%s held to %s takes %s", kCollectives[collective].name, algorithm, route.c_str());
      }
      pe.ok(sparkgap_world_set_algorithm(pe.world(), collective, nullptr), "sparkgap_world_set_algorithm to NULL");
      const std::string route = sparkgap_route(pe.world(), collective, 1000, SPARKGAP_INT8);
      expect(route == selected, "%s given back takes %s, not %s", kCollectives[collective].name, route.c_str(),
             selected.c_str());
    }
  });
}

void run_processes(int pes) {
  Pes processes{pes};
  processes.deadline_seconds = 300;
  run_grid(processes, full_grid(pes));
}

void run_threads(int pes) {
  Pes threads{pes, Placement::kThreads};
  threads.deadline_seconds = 300;
  run_grid(threads, grid_of_the_selector(pes));
}

void run_checked(int pes) {
  Pes processes{pes};
  processes.check = true;
  processes.deadline_seconds = 300;
  run_grid(processes, grid_of_the_selector(pes));
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(argc, argv,
                   {{"1_process", [] { run_processes(1); }},
                    {"2_processes", [] { run_processes(2); }},
                    {"3_processes", [] { run_processes(3); }},
                    {"4_processes", [] { run_processes(4); }},
                    {"5_processes", [] { run_processes(5); }},
                    {"8_processes", [] { run_processes(8); }},
                    {"3_threads", [] { run_threads(3); }},
                    {"4_threads", [] { run_threads(4); }},
                    {"route_names_the_algorithm_that_is_held", route_names_the_algorithm_that_is_held},
                    {"3_processes_that_check_their_calls", [] { run_checked(3); }}});
}
