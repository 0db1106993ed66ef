// What dispatch and combine take in GPU worlds: rows of bfloat16, also as float8, to experts that are drawn at random,
// all different in a row, spread over all PEs; as JSON on stdout.
//
//   gpu_rows_bench [--pes N] [--gpus N] [--rows 128] [--width 7168] [--top 8] [--experts 64] [--float8 0]
//
// A result is the median of batches of the slowest PE's time for each call, enqueued by itself (stream) or ten of them
// in a CUDA graph. PEs that share a GPU need MPS; their link is its memory.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
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
constexpr int kWarmUps = 3;
constexpr int kCalls = 50;
constexpr int kInGraph = 10;

struct Options {
  int pes = 2;
  int gpus = 1;
  uint64_t rows = 128;
  uint64_t width = 7168;
  int top = 8;
  int experts = 64;
  int float8 = 0;
};

template <class Item>
Item* on_gpu(const std::vector<Item>& items) {
  void* memory = nullptr;
  cuda_ok(cudaMalloc(&memory, items.size() * sizeof(Item)), "allocating");
  cuda_ok(cudaMemcpy(memory, items.data(), items.size() * sizeof(Item), cudaMemcpyHostToDevice), "copying");
  return static_cast<Item*>(memory);
}

class Bench {
 public:
  Bench(const Pe& pe, const Options& options, Meeting& meeting) : pe_(pe), options_(options), timer_(pe, meeting) {
    shape_ = {SPARKGAP_BFLOAT16, options.experts, options.top,
              options.width,     options.rows,    options.rows * static_cast<uint64_t>(pe.pes()),
              options.float8};
    sparkgap_rows_layout layout;
    pe.ok(sparkgap_rows_layout_of(pe.world(), &shape_, &layout), "sparkgap_rows_layout_of");
    buffer_ = pe.allocate(layout.bytes);
    choose();
  }

  void run() {
    const auto dispatch = [this] {
      pe_.ok(sparkgap_dispatch(pe_.world(), buffer_, &shape_, in_, indices_, weights_, options_.rows), "dispatch");
    };
    const auto combine = [this] {
      pe_.ok(sparkgap_combine(pe_.world(), buffer_, &shape_, weights_, out_, options_.rows), "combine");
    };
    measure("dispatch", dispatch);
    measure("combine", combine);
  }

 private:
  void choose() {
    std::mt19937 random(static_cast<uint32_t>(pe_.pe()) + 1);
    std::vector<int32_t> order(static_cast<size_t>(options_.experts));
    std::iota(order.begin(), order.end(), 0);
    std::vector<int32_t> indices;
    for (uint64_t row = 0; row < options_.rows; ++row) {
      std::shuffle(order.begin(), order.end(), random);
      indices.insert(indices.end(), order.begin(), order.begin() + options_.top);
    }
    for (const int32_t expert : indices) {
      const auto owner = (int64_t{expert + 1} * pe_.pes() - 1) / options_.experts;
      if (owner != pe_.pe()) ++sent_;
    }
    indices_ = on_gpu(indices);
    weights_ = on_gpu(std::vector<float>(indices.size(), 0.125f));
    in_ = on_gpu(std::vector<uint16_t>(options_.rows * options_.width, 0x3f80));
    out_ = on_gpu(std::vector<uint16_t>(options_.rows * options_.width));
  }

  double median_of(int times, int calls_each, const std::function<void()>& enqueue) {
    std::vector<double> us;
    for (int i = 0; i < kWarmUps + kBatches; ++i) {
      const double each = timer_.batch(times, calls_each, enqueue);
      if (i >= kWarmUps) us.push_back(each);
    }
    return median(us);
  }

  void measure(const char* call, const std::function<void()>& enqueue) {
    report(call, "stream", median_of(kCalls, 1, enqueue));
    const cudaGraphExec_t graph = timer_.graph_of(kInGraph, enqueue);
    report(call, "graph", median_of(kCalls / kInGraph, kInGraph, [&] { timer_.launch(graph); }));
    cudaGraphExecDestroy(graph);
  }

  void report(const char* call, const char* mode, double us) {
    if (pe_.pe() != 0) return;
    const uint64_t scale_bytes = options_.width / SPARKGAP_FLOAT8_GROUP * sizeof(float);
    const bool float8 = options_.float8 != 0 && std::strcmp(call, "dispatch") == 0;
    const uint64_t row_bytes = float8 ? options_.width + scale_bytes : options_.width * sizeof(uint16_t);
    const uint64_t all = options_.rows * static_cast<uint64_t>(options_.top) * row_bytes;
    std::printf("%s\n  {\"call\": \"%s\", \"mode\": \"%s\", \"us\": %.2f, \"bytes\": %lu, \"bytes_of_other_pes\": %lu}",
                first_ ? "" : ",", call, mode, us, all, sent_ * row_bytes);
    std::fflush(stdout);
    first_ = false;
  }

  const Pe& pe_;
  const Options& options_;
  WorldTimer timer_;
  sparkgap_rows_shape shape_ = {};
  sparkgap_buffer* buffer_ = nullptr;
  uint16_t* in_ = nullptr;
  uint16_t* out_ = nullptr;
  int32_t* indices_ = nullptr;
  float* weights_ = nullptr;
  uint64_t sent_ = 0;  // rows that go to other PEs
  bool first_ = true;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const int value = std::atoi(argv[i + 1]);
    if (name == "--pes") {
      options.pes = value;
    } else if (name == "--gpus") {
      options.gpus = value;
    } else if (name == "--rows") {
      options.rows = static_cast<uint64_t>(value);
    } else if (name == "--width") {
      options.width = static_cast<uint64_t>(value);
    } else if (name == "--top") {
      options.top = value;
    } else if (name == "--float8") {
      options.float8 = value;
    } else if (name == "--experts") {
      options.experts = value;
    } else {
      std::fprintf(stderr, "There is no option %s\n", name.c_str());
      std::exit(2);
    }
  }
  return options;
}

void run(const Options& options) {
  test::Pes pes{options.pes};
  pes.provider = "nvshmem";
  pes.gpus = std::min(options.pes, options.gpus);
  pes.device_shared = options.gpus < options.pes;
  pes.deadline_seconds = 100;
  const test::Shared<Meeting> meeting;
  test::run_pes(pes, [&](const Pe& pe) {
    if (pe.pe() == 0) {
      std::printf(
          "{\"pes\": %d, \"rows\": %lu, \"width\": %lu, \"top\": %d, \"experts\": %d, \"float8\": %d,\n\"world\": "
          "\"%s\",\n"
          "\"results\": [",
          pe.pes(), options.rows, options.width, options.top, options.experts, options.float8,
          sparkgap_world_describe(pe.world()));
    }
    Bench bench(pe, options, meeting[0]);
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
