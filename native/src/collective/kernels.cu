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

uint32_t signature_of(const KernelCall& call) {
  const Collective& what = description_of(call);
  uint64_t hash = 0x9e3779b97f4a7c15u;
  const auto mix = [&hash](uint64_t value) {
    hash = (hash ^ value) * 0xbf58476d1ce4e5b9u;
    hash ^= hash >> 29;
  };
  mix(static_cast<uint64_t>(call.collective) << 8 | static_cast<uint64_t>(call.algorithm));
  mix(static_cast<uint64_t>(what.has_type ? call.type : 0) << 8 | static_cast<uint64_t>(what.has_op ? call.op : 0));
  mix(static_cast<uint64_t>(what.has_root ? call.root : 0));
  mix(what.has_count ? call.count : 0);
  return static_cast<uint32_t>(hash >> 32);
}

uint64_t scratch_bytes(int32_t pes) { return scratch_size(static_cast<uint64_t>(pes)); }

uint64_t exchange_at(int32_t pes) { return exchange_begin(static_cast<uint64_t>(pes)); }

// A block may need a multiprocessor for itself. Of a PE that has its GPU alone all blocks of a launch fit, and those of
// the next one wait for room without harm. Where PEs share a GPU, two launches of each can be on it at once
// (meet_launch_order), and what waits there must not keep out what it waits for: a multiprocessor for each block of
// all.
int32_t lanes_for(int32_t multiprocessors, int32_t pes_per_device) {
  const int32_t launches = pes_per_device > 1 ? 2 * pes_per_device : 1;
  return std::max(1, std::min(kMaxLanes, multiprocessors / launches));
}

int32_t prepare_kernels() {
  for (const auto& prepare : {prepare_lines, prepare_chunks, prepare_program, prepare_resident}) {
    const int32_t error = prepare();
    if (error != 0) return error;
  }
  return 0;
}

int32_t launch(const KernelWorld& world, CUstream_st* stream, const KernelCall& asked) {
  if (is_empty(asked)) return 0;
  KernelCall call = asked;
  call.signature = signature_of(call);
  if (call.shape.blocks == 0) {
    call.shape = world.routes->shape(call.collective, call.algorithm, given_bytes(call));
  }
  return kLaunches.of[call.collective][static_cast<int32_t>(call.algorithm)](world, stream, call);
}

}  // namespace sparkgap::kernels
