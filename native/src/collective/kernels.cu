#include <algorithm>

#include "collective/kernels.h"
#include "collective/launch.h"
#include "protocol/scratch.h"

namespace sparkgap::kernels {
namespace {

struct LaunchTable {
  LaunchFunction* of[SPARKGAP_COLLECTIVES][kAlgorithms];
};

constexpr LaunchTable make_launch_table() {
  LaunchTable table = {};
#define SPARKGAP_ENTRY(collective, name, function) \
  table.of[SPARKGAP_##collective][static_cast<int32_t>(Algorithm::name)] = launch_##function;
  SPARKGAP_KERNEL_ALGORITHMS(SPARKGAP_ENTRY)
#undef SPARKGAP_ENTRY
  return table;
}

constexpr LaunchTable kLaunches = make_launch_table();

}  // namespace

uint64_t scratch_bytes(int32_t pes) { return scratch_size(static_cast<uint64_t>(pes)); }

// Two launches of a PE can be on the GPU at once (meet_launch_order), and a multiprocessor has room for two blocks of
// any kernel of a collective: a lane of each PE for each multiprocessor always fits.
int32_t lanes_for(int32_t multiprocessors, int32_t pes_per_device) {
  return std::max(1, std::min(kMaxLanes, multiprocessors / std::max(1, pes_per_device)));
}

int32_t launch(const KernelWorld& world, CUstream_st* stream, const KernelCall& call) {
  if (is_empty(call)) return 0;
  return kLaunches.of[call.collective][static_cast<int32_t>(call.algorithm)](world, stream, call);
}

}  // namespace sparkgap::kernels
