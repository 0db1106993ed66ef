// Worlds of GPUs through the C interface, PEs as processes, for any number of GPUs: with fewer GPUs than PEs several
// PEs share one, for which MPS has to run, and provider nccl is left out. Needs a GPU; run by hand or by bench/gpu:
//   gpu_world_test [--pes N] [--provider nvshmem|nccl] [TEST...]
//   hosts.py --hosts 2 run gpu_world_test --nodes 1,1 [TEST...]     provider nccl, so many PEs on each host
// On several hosts two PEs may have one GPU if they are on different ones: NCCL does not know.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "gpu/worlds.h"

namespace {

// Of "1,1".
std::vector<int> numbers(const std::string& text) {
  std::vector<int> found;
  std::stringstream list(text);
  for (std::string number; std::getline(list, number, ',');) found.push_back(std::atoi(number.c_str()));
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  std::vector<std::string> providers = {"nvshmem", "nccl"};
  int pes = 2;
  std::vector<int> nodes;
  std::vector<char*> names = {argv[0]};
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--pes") == 0 && i + 1 < argc) {
      pes = std::atoi(argv[++i]);
    } else if (std::strcmp(argv[i], "--provider") == 0 && i + 1 < argc) {
      providers = {argv[++i]};
    } else if (std::strcmp(argv[i], "--nodes") == 0 && i + 1 < argc) {
      nodes = numbers(argv[++i]);
      pes = std::accumulate(nodes.begin(), nodes.end(), 0);
      providers = {"nccl"};
    } else {
      names.push_back(argv[i]);
    }
  }
  gpus_here = count_gpus();
  if (gpus_here == 0) return 1;
  // Those that may end with a GPU that some process has broken come last.
  std::vector<Test> tests;
  for (const auto& some : {tests_of_worlds(), tests_of_calls(), tests_of_streams(), tests_of_steps(), tests_of_rows(),
                           tests_of_programs(), tests_of_resident(), tests_of_beside(), tests_of_device_code(),
                           tests_of_products(), tests_of_nodes(), tests_of_losses()}) {
    tests.insert(tests.end(), some.begin(), some.end());
  }
  int failed = 0;
  for (const std::string& provider : providers) {
    if (provider == "nccl" && gpus_here < pes && nodes.empty()) {
      std::printf("provider nccl is left out: it needs a GPU for each of %d PEs, and there are %d\n", pes, gpus_here);
      continue;
    }
    std::printf("provider %s, %d PEs on %d GPUs\n", provider.c_str(), pes, std::min(pes, gpus_here));
    std::fflush(stdout);
    world_of = {};
    world_of.count = pes;
    world_of.provider = provider.c_str();
    world_of.gpus = std::min(pes, gpus_here);
    world_of.device_shared = gpus_here < pes;
    world_of.nodes = nodes;
    world_of.on_hosts = !nodes.empty();
    failed |= run_tests(static_cast<int>(names.size()), names.data(), tests);
  }
  return failed;
}
