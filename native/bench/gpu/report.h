// The results of the GPU benchmark, as JSON on stdout, by PE 0: one result a line.
#ifndef SPARKGAP_BENCH_GPU_REPORT_H
#define SPARKGAP_BENCH_GPU_REPORT_H

#include <cstdio>
#include <string>

#include "gpu/gpu_pes.h"

namespace sparkgap::bench {

struct Result {
  const char* collective;
  const char* library;
  const char* memory;
  const char* mode;
  std::string route;
  uint64_t bytes;
  double us;
  int blocks = 0;         // at most, where the run was held to it
  std::string more = "";  // ", \"name\": value"
};

class Report {
 public:
  explicit Report(const test::GpuPe& pe) : prints_(pe.pe() == 0) {}

  void add(const Result& result) {
    if (!prints_) return;
    std::printf(
        "%s\n  {\"collective\": \"%s\", \"library\": \"%s\", \"memory\": \"%s\", \"mode\": \"%s\", \"route\": \"%s\", "
        "\"bytes\": %lu, \"us\": %.3f",
        first_ ? "" : ",", result.collective, result.library, result.memory, result.mode, result.route.c_str(),
        result.bytes, result.us);
    if (result.blocks > 0) std::printf(", \"max_blocks\": %d", result.blocks);
    std::printf("%s}", result.more.c_str());
    std::fflush(stdout);
    first_ = false;
  }

  bool prints() const { return prints_; }

 private:
  bool prints_;
  bool first_ = true;
};

}  // namespace sparkgap::bench
#endif  // SPARKGAP_BENCH_GPU_REPORT_H
