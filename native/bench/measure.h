// How all benchmarks measure, ours and the peers' alike: every PE makes the same number of calls back to back, a batch
// counts with the slowest PE's time, and the result is the median of the batches after one that warms up.
#ifndef SPARKGAP_BENCH_MEASURE_H
#define SPARKGAP_BENCH_MEASURE_H

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace sparkgap::bench {

constexpr int kBatches = 5;

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Calls in a batch; the same for everybody, because all PEs have to make as many.
inline int iterations_for(size_t bytes) {
  if (bytes <= (4 << 10)) return 5000;
  if (bytes <= (64 << 10)) return 1000;
  if (bytes <= (1 << 20)) return 200;
  if (bytes <= (8 << 20)) return 20;
  return 4;
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

inline void pin_to_core(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  if (sched_setaffinity(0, sizeof cores, &cores) != 0) {
    std::fprintf(stderr, "cannot pin to core %d: is it among those that this process may use?\n", core);
    std::exit(2);
  }
}

struct Options {
  int pes = 2;
  bool symmetric = false;     // buffers in the symmetric heap
  bool pin = false;           // PE i to core i
  std::string algorithm;      // "" leaves it to the selector
  std::string collective = "allReduce";
  size_t from_bytes = 64;
  size_t to_bytes = 64 << 20;
  int factor = 4;             // between sizes
};

[[noreturn]] inline void usage(const char* wrong) {
  std::fprintf(stderr,
               "%s\nOptions: --pes N (2) --memory private|symmetric (private) --algorithm NAME --collective allReduce|"
               "reduceScatter|allGather|broadcast|reduce|allToAll|barrier (allReduce) --from BYTES (64) --to BYTES "
               "(67108864) --factor N (4) --pin yes|no (no)\n",
               wrong);
  std::exit(2);
}

inline Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) usage(("No value for " + name).c_str());
    const std::string value = argv[i + 1];
    if (name == "--pes") {
      options.pes = std::stoi(value);
    } else if (name == "--memory" && (value == "private" || value == "symmetric")) {
      options.symmetric = value == "symmetric";
    } else if (name == "--pin" && (value == "yes" || value == "no")) {
      options.pin = value == "yes";
    } else if (name == "--algorithm") {
      options.algorithm = value;
    } else if (name == "--collective") {
      options.collective = value;
    } else if (name == "--from") {
      options.from_bytes = std::stoull(value);
    } else if (name == "--to") {
      options.to_bytes = std::stoull(value);
    } else if (name == "--factor") {
      options.factor = std::max(2, std::stoi(value));
    } else {
      usage(("Cannot use " + name + " " + value).c_str());
    }
  }
  return options;
}

// Runs `call` in batches; `barrier` lines the PEs up before each, `slowest` gives the largest of all PEs' values to all.
template <class Call, class Barrier, class Slowest>
double microseconds_per_call(int iterations, Call call, Barrier barrier, Slowest slowest) {
  std::vector<double> batches;
  for (int batch = 0; batch <= kBatches; ++batch) {
    barrier();
    const double start = seconds_now();
    for (int i = 0; i < iterations; ++i) call();
    const double took = slowest(seconds_now() - start);
    if (batch > 0) batches.push_back(took / iterations * 1e6);
  }
  return median(batches);
}

struct Result {
  size_t bytes;
  double microseconds;
  std::string route;
};

inline void print_json(const char* library, const Options& options, const std::vector<Result>& results) {
  std::printf("{\"library\": \"%s\", \"collective\": \"%s\", \"pes\": %d, \"memory\": \"%s\", \"results\": [", library,
              options.collective.c_str(), options.pes, options.symmetric ? "symmetric" : "private");
  for (size_t i = 0; i < results.size(); ++i) {
    std::printf("%s\n  {\"bytes\": %zu, \"us\": %.3f, \"route\": \"%s\"}", i == 0 ? "" : ",", results[i].bytes,
                results[i].microseconds, results[i].route.c_str());
  }
  std::printf("\n]}\n");
}

}  // namespace sparkgap::bench
#endif  // SPARKGAP_BENCH_MEASURE_H
