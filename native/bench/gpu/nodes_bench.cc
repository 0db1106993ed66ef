// All-reduce of float32 in GPU worlds of provider nccl on several nodes, beside NCCL alone, in turns in one run; as
// JSON on stdout. In both each PE has one GPU.
//
//   tools/hosts/hosts.py --hosts 2 run nodes_bench [--nodes 1,1] [--to BYTES] [--nccl PATH]
//
// A result is the median of batches of the slowest PE's time for each call.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nccl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "support/check.h"
#include "support/pes.h"
#include "world_timer.h"

namespace sparkgap::bench {
namespace {

using test::expect;
using test::Pe;

constexpr int kBatches = 20;
constexpr int kWarmUps = 2;
constexpr uint64_t kSizes[] = {64, 4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20};

struct Options {
  std::vector<int> nodes = {1, 1};
  uint64_t to = 64 << 20;
  std::string nccl = "libnccl.so.2";
};

// What the PEs' processes share.
struct Shared {
  Meeting meeting;
  ncclUniqueId id;
};

// NCCL's functions, looked up in the library that the world has, too.
class Nccl {
 public:
  explicit Nccl(const std::string& path) : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    expect(library_ != nullptr, "%s cannot be loaded: %s", path.c_str(), dlerror());
    find(unique_id, "ncclGetUniqueId");
    find(init, "ncclCommInitRank");
    find(all_reduce, "ncclAllReduce");
    find(error_string, "ncclGetErrorString");
  }
  void ok(ncclResult_t result, const char* what) const {
    expect(result == ncclSuccess, "%s: %s", what, error_string(result));
  }

  decltype(&::ncclGetUniqueId) unique_id;
  decltype(&::ncclCommInitRank) init;
  decltype(&::ncclAllReduce) all_reduce;
  decltype(&::ncclGetErrorString) error_string;

 private:
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    expect(function != nullptr, "there is no %s", name);
  }

  void* library_;
};

class Bench {
 public:
  Bench(const Pe& pe, const Options& options, Shared& shared)
      : pe_(pe), options_(options), timer_(pe, shared.meeting), nccl_(options.nccl) {
    address_ = sparkgap_buffer_address(pe.allocate(options.to));
    if (pe.pe() == 0) nccl_.ok(nccl_.unique_id(&shared.id), "ncclGetUniqueId");
    timer_.meet();
    nccl_.ok(nccl_.init(&communicator_, pe.pes(), shared.id, pe.pe()), "ncclCommInitRank");
  }

  void run() {
    for (const uint64_t bytes : kSizes) {
      if (bytes > options_.to) break;
      const uint64_t count = bytes / sizeof(float);
      const auto ours = [this, count] {
        pe_.ok(sparkgap_all_reduce(pe_.world(), address_, address_, count, SPARKGAP_FLOAT32, SPARKGAP_SUM),
               "all_reduce");
      };
      const auto nccls = [this, count] {
        nccl_.ok(nccl_.all_reduce(address_, address_, count, ncclFloat32, ncclSum, communicator_, timer_.stream()),
                 "ncclAllReduce");
      };
      const int calls = bytes <= (64 << 10) ? 200 : bytes <= (1 << 20) ? 40 : bytes <= (4 << 20) ? 12 : 3;
      report("stream", bytes, in_turns(calls, 1, ours, nccls));
      const int in_graph = std::min(calls, 20);
      const cudaGraphExec_t of_ours = timer_.graph_of(in_graph, ours);
      const cudaGraphExec_t of_nccls = timer_.graph_of(in_graph, nccls);
      const auto launch = [this](cudaGraphExec_t graph) { timer_.launch(graph); };
      report("graph", bytes,
             in_turns(std::max(1, calls / in_graph), in_graph, [&] { launch(of_ours); }, [&] { launch(of_nccls); }));
      cudaGraphExecDestroy(of_ours);
      cudaGraphExecDestroy(of_nccls);
    }
  }

 private:
  struct Pair {
    double ours;
    double nccls;
  };

  Pair in_turns(int times, int calls_each, const std::function<void()>& ours, const std::function<void()>& nccls) {
    std::vector<double> of_ours;
    std::vector<double> of_nccls;
    for (int i = 0; i < kWarmUps + kBatches; ++i) {
      // Each is first as often as the other.
      const bool ours_first = i % 2 == 0;
      const double first = timer_.batch(times, calls_each, ours_first ? ours : nccls);
      const double second = timer_.batch(times, calls_each, ours_first ? nccls : ours);
      if (i < kWarmUps) continue;
      of_ours.push_back(ours_first ? first : second);
      of_nccls.push_back(ours_first ? second : first);
    }
    return {median(of_ours), median(of_nccls)};
  }

  void report(const char* mode, uint64_t bytes, const Pair& us) {
    if (pe_.pe() != 0) return;
    std::printf("%s\n  {\"mode\": \"%s\", \"bytes\": %lu, \"sparkgap_us\": %.2f, \"nccl_us\": %.2f, \"ratio\": %.3f}",
                first_ ? "" : ",", mode, bytes, us.ours, us.nccls, us.ours / us.nccls);
    std::fflush(stdout);
    first_ = false;
  }

  const Pe& pe_;
  const Options& options_;
  WorldTimer timer_;
  const Nccl nccl_;
  void* address_ = nullptr;
  ncclComm_t communicator_ = nullptr;
  bool first_ = true;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--nodes") {
      options.nodes.clear();
      for (size_t at = 0; at < value.size();
           at = value.find(',', at) == std::string::npos ? value.size() : value.find(',', at) + 1) {
        options.nodes.push_back(std::atoi(value.c_str() + at));
      }
    } else if (name == "--to") {
      options.to = std::stoull(value);
    } else if (name == "--nccl") {
      options.nccl = value;
    } else {
      std::fprintf(stderr, "There is no option %s\n", name.c_str());
      std::exit(2);
    }
  }
  return options;
}

void run(const Options& options) {
  test::Pes pes{0};
  for (const int size : options.nodes) pes.count += size;
  pes.nodes = options.nodes;
  pes.on_hosts = true;
  pes.provider = "nccl";
  pes.gpus = pes.count;
  pes.nccl_library = options.nccl.c_str();
  pes.deadline_seconds = 300;
  const test::Shared<Shared> shared;
  test::run_pes(pes, [&](const Pe& pe) {
    if (pe.pe() == 0) {
      std::printf("{\"pes\": %d, \"nodes\": %zu,\n\"world\": \"%s\",\n\"results\": [", pe.pes(), options.nodes.size(),
                  sparkgap_world_describe(pe.world()));
    }
    Bench bench(pe, options, shared[0]);
    bench.run();
    if (pe.pe() == 0) std::printf("]}\n");
    std::fflush(stdout);
  });
}

}  // namespace
}  // namespace sparkgap::bench

int main(int argc, char** argv) {
  const sparkgap::bench::Options options = sparkgap::bench::parse(argc, argv);
  try {
    sparkgap::bench::run(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
