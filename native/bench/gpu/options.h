// What the GPU benchmark is asked for.
#ifndef SPARKGAP_BENCH_GPU_OPTIONS_H
#define SPARKGAP_BENCH_GPU_OPTIONS_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace sparkgap::bench {

struct Options {
  int pes = 2;
  uint64_t from = 64;
  uint64_t to = 64 << 20;
  uint64_t factor = 4;
  std::string nccl = "libnccl.so.2";
  std::vector<std::string> collectives = {"allReduce"};
  std::vector<std::string> algorithms = {"auto"};
  std::vector<std::string> modes = {"stream", "graph", "sync"};
  std::vector<std::string> max_blocks = {"0"};
  std::string what = "calls";
  std::string launches = "measured";
};

constexpr const char* kUsage =
    "Options: --what calls|shapes|steps|resident|floors --pes N --from BYTES --to BYTES --factor N --nccl PATH|none\n"
    "         --collectives A,B --algorithms A,B --modes stream,graph,sync --max-blocks N,M (0: all)\n"
    "         --launches measured|graphs|alone: of small calls\n";

[[noreturn]] inline void usage(const std::string& wrong) {
  std::fprintf(stderr, "%s\n%s", wrong.c_str(), kUsage);
  std::exit(2);
}

inline std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> items;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    items.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return items;
}

inline Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) usage("No value for " + name);
    const std::string value = argv[i + 1];
    if (name == "--pes") {
      options.pes = std::stoi(value);
    } else if (name == "--from") {
      options.from = std::stoull(value);
    } else if (name == "--to") {
      options.to = std::stoull(value);
    } else if (name == "--factor") {
      options.factor = std::stoull(value);
    } else if (name == "--nccl") {
      options.nccl = value;
    } else if (name == "--collectives") {
      options.collectives = list_of(value);
    } else if (name == "--algorithms") {
      options.algorithms = list_of(value);
    } else if (name == "--modes") {
      options.modes = list_of(value);
    } else if (name == "--max-blocks") {
      options.max_blocks = list_of(value);
    } else if (name == "--launches") {
      options.launches = value;
    } else if (name == "--what") {
      options.what = value;
    } else {
      usage("There is no option " + name);
    }
  }
  return options;
}

}  // namespace sparkgap::bench
#endif  // SPARKGAP_BENCH_GPU_OPTIONS_H
