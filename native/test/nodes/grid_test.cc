// Every collective by every algorithm between nodes: groups of processes of this machine that share no memory with each
// other and are joined by the loopback interface.
#include "collective/grid.h"

#include "support/check.h"

namespace sparkgap::test {
namespace {

Pes pes_on(const std::vector<int>& nodes) {
  Pes pes = nodes_of(nodes);
  pes.deadline_seconds = 400;
  pes.peer_timeout_ms = 60000;
  return pes;
}

void run_full(const std::vector<int>& nodes) {
  const Pes pes = pes_on(nodes);
  run_grid(pes, full_grid(pes.count, ProviderKind::kNodes));
}

void run_selected(const std::vector<int>& nodes, Placement placement, bool check) {
  Pes pes = pes_on(nodes);
  pes.placement = placement;
  pes.check = check;
  run_grid(pes, grid_of_the_selector(pes.count, ProviderKind::kNodes));
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(argc, argv,
                   {{"1_and_1", [] { run_full({1, 1}); }},
                    {"2_and_2", [] { run_full({2, 2}); }},
                    {"1_and_3", [] { run_full({1, 3}); }},
                    {"3_and_1_and_2", [] { run_selected({3, 1, 2}, Placement::kProcesses, false); }},
                    {"2_and_1_and_1", [] { run_full({2, 1, 1}); }},
                    {"1_and_1_and_1", [] { run_selected({1, 1, 1}, Placement::kProcesses, true); }},
                    {"2_and_1_threads", [] { run_selected({2, 1}, Placement::kThreads, false); }}});
}
