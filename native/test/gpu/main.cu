// Runs the kernel tests: all, or those whose names are arguments. Which numbers of PEs: SPARKGAP_TEST_PES, "1,2" if not
// set. With more PEs than GPUs MPS has to run (run.sh starts it).
#include <string>

#include "gpu/gpu_pes.h"
#include "gpu/kernel_case.h"
#include "gpu/tests.h"
#include "support/check.h"

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  std::vector<Test> tests;
  static std::vector<std::string> names;
  names.reserve(1000);
  const auto add = [&](const std::string& what, int pes, std::function<void()> body) {
    names.push_back(what + "/" + std::to_string(pes));
    tests.push_back({names.back().c_str(), std::move(body)});
  };
  for (const int pes : pes_to_test()) {
    for (int collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
      add(std::string("grid/") + sparkgap::kCollectives[collective].name, pes, [=] { run_grid(pes, collective); });
    }
    add("small", pes, [=] { run_small(pes); });
    add("mixture", pes, [=] { run_mixture(pes); });
    add("back_to_back", pes, [=] { run_back_to_back(pes); });
    add("graph", pes, [=] { run_graph(pes); });
    add("hidden_words", pes, [=] { run_hidden_words(pes); });
    if (pes == 1) continue;
    add("deadline", pes, [=] { run_deadline(pes); });
    add("abort", pes, [=] { run_abort(pes); });
    add("ring_breaks_off", pes, [=] { run_ring_breaks_off(pes); });
    if (pes == 2) add("calls_differ", pes, [=] { run_calls_differ(pes); });
    add("counts_disagree", pes, [=] { run_counts_disagree(pes); });
  }
  return run_tests(argc, argv, tests);
}
