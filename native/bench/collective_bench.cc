// Time of one collective call of float32 between forked processes, by size, as JSON: of this host, or of several
// (tools/hosts/hosts.py).
//
// `bytes` is what one PE contributes: count (or count_per_pe) times 4.
#include <cstring>

#include "measure.h"
#include "support/check.h"
#include "support/make_call.h"
#include "support/pes.h"

namespace sparkgap::bench {
namespace {

using test::Pe;

int collective_of(const std::string& name) {
  for (int i = 0; i < SPARKGAP_COLLECTIVES; ++i) {
    if (name == kCollectives[i].name && !kCollectives[i].has_tables()) return i;
  }
  usage(("There is no collective " + name + " to measure").c_str());
}

// Where a PE's arrays are: in one symmetric buffer or in memory of its own, both touched before.
class Arrays {
 public:
  Arrays(const Pe& pe, const Options& options, size_t bytes) {
    // Room for the collectives whose arrays hold an element block for each PE.
    const size_t each = (bytes * options.pes + 4095) / 4096 * 4096;
    if (options.symmetric) {
      in_ = sparkgap_buffer_address(pe.allocate(each));
      out_ = sparkgap_buffer_address(pe.allocate(each));
    } else {
      in_ = std::aligned_alloc(4096, each);
      out_ = std::aligned_alloc(4096, each);
    }
    test::expect(in_ != nullptr && out_ != nullptr, "no memory for two arrays of %zu bytes", each);
    std::memset(in_, 0, each);
    std::memset(out_, 0, each);
  }

  const void* in() const { return in_; }
  void* out() const { return out_; }

 private:
  void* in_;
  void* out_;
};

void measure(const Pe& pe, const Options& options, const test::Shared<double>& times) {
  const int collective = collective_of(options.collective);
  sparkgap_world* world = pe.world();
  if (options.pin) pin_to_core(pe.pe());
  if (!options.algorithm.empty()) {
    pe.ok(sparkgap_world_set_algorithm(world, collective, options.algorithm.c_str()), "sparkgap_world_set_algorithm");
  }
  const Arrays arrays(pe, options, options.to_bytes);
  const auto barrier = [&] { pe.ok(sparkgap_barrier(world), "sparkgap_barrier"); };
  const auto slowest = [&](double seconds) {
    times[pe.pe()] = seconds;
    barrier();
    double most = 0;
    for (int i = 0; i < pe.pes(); ++i) most = std::max(most, times[i]);
    barrier();
    return most;
  };

  std::vector<Result> results;
  for (size_t bytes = options.from_bytes; bytes <= options.to_bytes; bytes *= options.factor) {
    const size_t count = bytes / 4;
    const CollectiveCall call =
        make_call(collective, arrays.in(), arrays.out(), count, SPARKGAP_FLOAT32, SPARKGAP_SUM, 0);
    const auto make = [&] { pe.ok(test::make_call(world, call), options.collective.c_str()); };
    double microseconds = 0;
    if (options.step == 0) {
      microseconds = microseconds_per_call(iterations_for(bytes), make, barrier, slowest);
    } else {
      sparkgap_step* step = nullptr;
      pe.ok(sparkgap_step_begin(world), "sparkgap_step_begin");
      for (int i = 0; i < options.step; ++i) make();
      pe.ok(sparkgap_step_end(world, &step), "sparkgap_step_end");
      const auto run = [&] { pe.ok(sparkgap_step_run(world, step), "sparkgap_step_run"); };
      const int runs = std::max(1, iterations_for(bytes) / options.step);
      microseconds = microseconds_per_call(runs, run, barrier, slowest) / options.step;
      pe.ok(sparkgap_step_destroy(world, step), "sparkgap_step_destroy");
    }
    results.push_back({bytes, microseconds, sparkgap_route(world, collective, count, SPARKGAP_FLOAT32)});
  }
  if (pe.pe() == 0) {
    print_json("sparkgap", options, results);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace sparkgap::bench

int main(int argc, char** argv) {
  using namespace sparkgap;
  const bench::Options options = bench::parse_options(argc, argv);
  try {
    const test::Shared<double> times(SPARKGAP_MAX_PES);
    test::Pes pes{options.pes};
    pes.deadline_seconds = 600;
    for (int node = 0; options.nodes > 1 && node < options.nodes; ++node) {
      pes.nodes.push_back(options.pes / options.nodes);
      pes.on_hosts = true;
    }
    test::run_pes(pes, [&](const test::Pe& pe) { bench::measure(pe, options, times); });
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
