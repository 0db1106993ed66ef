// Collectives of float32 on GPUs by size, ours beside NCCL in one run, with the floors of the machine, as JSON on
// stdout.
//
//   gpu_collective_bench --pes 2 [--collectives allReduce,allGather,...] [--from 64] [--to 67108864] [--factor 4]
//                        [--modes stream,graph,sync] [--algorithms auto,packets,...] [--max-blocks 0,16] [--nccl PATH]
//                        [--launches measured|graphs|alone]
//   gpu_collective_bench --what shapes ...    every launch shape of the algorithms in a graph: what select/tuning.cc is
//                                             made of
//   gpu_collective_bench --what steps ...     a step of 50 of them, as a graph and as one kernel
//   gpu_collective_bench --what resident ...  from the call on host memory to the result there, to 1 KiB
//   gpu_collective_bench --what floors        the floors, and a put with a signal, alone
//
// `bytes` is what a PE gives for one other: all of it for allReduce, allGather and broadcast, a block for reduceScatter
// allToAll and allToAllv. NCCL refuses two PEs on one GPU, so there it is left out.
#include <algorithm>
#include <string>

#include "collective/launch_cache.h"
#include "floors.h"
#include "gpu/gpu_pes.h"
#include "measure.h"
#include "nccl_peer.h"
#include "options.h"
#include "report.h"
#include "resident.h"
#include "shapes.h"
#include "steps.h"

namespace sparkgap::bench {
namespace {

using test::cuda_ok;
using test::GpuPe;

int iterations_for(uint64_t bytes) { return bytes <= (1 << 20) ? 400 : bytes <= (16 << 20) ? 60 : 20; }

double measure(GpuPe& pe, const std::string& mode, uint64_t bytes, const Enqueue& enqueue) {
  const int iterations = iterations_for(bytes);
  if (mode == "stream") return by_stream(pe, iterations, enqueue);
  if (mode == "graph") return in_graph(pe, std::max(2, iterations / 20), enqueue);
  if (mode == "sync") return launch_and_sync(pe, std::min(iterations, 100), enqueue);
  usage("There is no mode " + mode);
}

int collective_of(const std::string& name) {
  for (int collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
    if (name == kCollectives[collective].name) return collective;
  }
  usage("There is no collective " + name);
}

// The memory of a run: `in` and `out` with room for a block of each PE.
struct Arrays {
  const test::PeerMemory& memory;
  uint64_t half;
  // Of the last allToAllv.
  mutable uint64_t counts[kernels::kMaxPes] = {};
  mutable uint64_t offsets[kernels::kMaxPes] = {};

  kernels::KernelCall call(int collective, Algorithm algorithm, uint64_t bytes) const {
    kernels::KernelCall call = {};
    static_cast<CollectiveCall&>(call) =
        make_call(collective, memory.own(), memory.own() + half, bytes / 4, SPARKGAP_FLOAT32, SPARKGAP_SUM);
    call.algorithm = algorithm;
    if (!description_of(call).has_tables()) return call;
    for (uint64_t pe = 0; pe < kernels::kMaxPes; ++pe) {
      counts[pe] = bytes / 4;
      offsets[pe] = pe * bytes / 4;
    }
    call.send_counts = call.receive_counts = counts;
    call.send_offsets = call.receive_offsets = offsets;
    return call;
  }
  void add_place(kernels::KernelCall& call, int pes) const {
    call.place = uint64_t{1} << 40 | half;
    for (int i = 0; i < pes; ++i) call.peer_out[i] = memory.parts[i] + half;
  }
};

void measure_ours(GpuPe& pe, const Options& options, Report& report, const Arrays& arrays, int collective,
                  uint64_t bytes, int blocks) {
  for (const std::string& name : options.algorithms) {
    Algorithm algorithm;
    if (!find_algorithm(collective, name.c_str(), ProviderKind::kNvshmem, &algorithm)) continue;
    if (algorithm == Algorithm::kAuto) algorithm = pe.routes.choose(collective, bytes);
    if (!can_carry(algorithm, bytes, pe.circumstances)) continue;
    kernels::KernelCall call = arrays.call(collective, algorithm, bytes);
    const bool uses_place = algorithm == Algorithm::kTwoShot || algorithm == Algorithm::kRing;
    for (const char* memory : {"private", "symmetric"}) {
      if (memory[0] == 's') {
        if (!uses_place) continue;
        arrays.add_place(call, pe.pes());
      }
      for (const std::string& mode : options.modes) {
        const double us = measure(pe, mode, bytes, [&] { pe.launch(call); });
        report.add({kCollectives[collective].name, "sparkgap", memory, mode.c_str(),
                    route_name(ProviderKind::kNvshmem, algorithm), bytes, us, blocks});
      }
    }
  }
}

void measure_nccl(GpuPe& pe, const Options& options, Report& report, const Arrays& arrays, const NcclPeer& peer,
                  int collective, uint64_t bytes) {
  const auto run = [&](const char* memory, const char* route, const uint8_t* in, uint8_t* out) {
    for (const std::string& mode : options.modes) {
      const double us = measure(pe, mode, bytes, [&] { peer.call(collective, in, out, bytes / 4); });
      report.add({kCollectives[collective].name, "nccl", memory, mode.c_str(), route, bytes, us});
    }
  };
  run("private", "nccl/default", arrays.memory.own(), arrays.memory.own() + arrays.half);
  const bool by_sends = collective == SPARKGAP_ALL_TO_ALL || collective == SPARKGAP_ALL_TO_ALLV;
  if (peer.symmetric() == nullptr || by_sends) return;
  run("symmetric", "nccl/symmetric", peer.symmetric(), peer.symmetric() + arrays.half);
}

void describe_machine(GpuPe& pe, const Nccl* nccl, const test::PeerMemory& memory) {
  const Floors floors = measure_floors(pe, memory);
  if (pe.pe() != 0) return;
  cudaDeviceProp properties;
  int driver = 0, runtime = 0, nccl_version = 0;
  cuda_ok(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  cuda_ok(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  cuda_ok(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  if (nccl != nullptr) nccl->ok(nccl->version(&nccl_version), "ncclGetVersion");
  std::printf(
      "{\"type\": \"float32\", \"op\": \"SUM\", \"pes\": %d, \"gpus\": %d, \"gpu\": \"%s\", \"cuda_driver\": %d, "
      "\"cuda_runtime\": %d, \"nccl\": %d,\n",
      pe.pes(), pe.gpus(), properties.name, driver, runtime, nccl_version);
  std::printf(
      "\"floors\": {\"empty_kernel_stream_us\": %.3f, \"empty_kernel_graph_us\": %.3f, \"empty_kernel_sync_us\": %.3f, "
      "\"copy_to_neighbour_gb_per_s\": %.1f},\n\"results\": [",
      floors.empty_stream_us, floors.empty_graph_us, floors.empty_sync_us, floors.link_gb_per_s);
}

void measure_calls(GpuPe& pe, const Options& options, Report& report, const Arrays& arrays, const NcclPeer* peer) {
  const int all_lanes = pe.world.lanes;
  for (const std::string& name : options.collectives) {
    const int collective = collective_of(name);
    for (uint64_t bytes = options.from; bytes <= options.to; bytes *= options.factor) {
      for (const std::string& limit : options.max_blocks) {
        const int blocks = std::stoi(limit);
        pe.set_lanes(blocks == 0 ? all_lanes : std::min(blocks, all_lanes));
        measure_ours(pe, options, report, arrays, collective, bytes, blocks);
      }
      pe.set_lanes(all_lanes);
      if (peer != nullptr) measure_nccl(pe, options, report, arrays, *peer, collective, bytes);
    }
  }
}

// By name, or all.
bool asks_for(const Options& options, int collective, Algorithm algorithm) {
  return std::any_of(options.algorithms.begin(), options.algorithms.end(), [&](const std::string& name) {
    Algorithm named;
    return find_algorithm(collective, name.c_str(), ProviderKind::kNvshmem, &named) &&
           (named == Algorithm::kAuto || named == algorithm);
  });
}

void measure_shapes(GpuPe& pe, const Options& options, Report& report, const Arrays& arrays) {
  for (const std::string& name : options.collectives) {
    const int collective = collective_of(name);
    for (uint64_t bytes = options.from; bytes <= options.to; bytes *= options.factor) {
      for (const ShapeToTry& shape : shapes_to_try(collective, bytes)) {
        if (!asks_for(options, collective, shape.algorithm)) continue;
        if (!can_carry(shape.algorithm, bytes, pe.circumstances)) continue;
        kernels::KernelCall call = arrays.call(collective, shape.algorithm, bytes);
        call.shape = shape.shape;
        const double us = in_graph(pe, std::max(1, iterations_for(bytes) / 80), [&] { pe.launch(call); });
        report.add({name.c_str(), "sparkgap", "private", "graph", route_name(ProviderKind::kNvshmem, shape.algorithm),
                    bytes, us, 0, describe(shape.shape)});
      }
    }
  }
}

void measure_steps(GpuPe& pe, const Options& options, Report& report, const Arrays& arrays) {
  for (const std::string& name : options.collectives) {
    const int collective = collective_of(name);
    for (uint64_t bytes = options.from; bytes <= options.to; bytes *= options.factor) {
      if (pe.routes.choose(collective, bytes) != Algorithm::kPackets) continue;
      measure_step(pe, report, arrays.call(collective, Algorithm::kPackets, bytes), bytes);
    }
  }
}

void measure_resident_calls(GpuPe& pe, const Options& options, Report& report) {
  for (const std::string& name : options.collectives) {
    measure_resident(pe, report, collective_of(name), options.from, std::min(options.to, kernels::kResidentBytes));
  }
}

void measure_puts(GpuPe& pe, Report& report, const test::PeerMemory& memory) {
  if (pe.pes() != 2) return;
  for (uint64_t bytes = 8; bytes <= 4096; bytes *= bytes == 8 ? 8 : 4) {
    report.add({"put with signal", "sparkgap", "symmetric", "one way", "kernel", bytes,
                put_with_signal_us(pe, memory, bytes)});
    report.add({"message in packets", "sparkgap", "symmetric", "one way", "kernel", bytes,
                message_in_packets_us(pe, memory, bytes)});
  }
}

void run(GpuPe& pe, const Options& options, ncclUniqueId& shared_id) {
  std::unique_ptr<Nccl> nccl;
  if (options.what == "calls" && pe.gpus() >= pe.pes() && options.nccl != "none")
    nccl = Nccl::load(options.nccl.c_str());
  const uint64_t half = std::max<uint64_t>(options.to, 64 << 20) * static_cast<uint64_t>(pe.pes());
  if (options.launches != "measured") pe.world.launches->set_host_keeps_up(options.launches == "alone");
  const test::PeerMemory memory = pe.allocate(2 * half);
  const Arrays arrays = {memory, half};
  Report report(pe);
  describe_machine(pe, nccl.get(), memory);
  std::unique_ptr<NcclPeer> peer;
  if (nccl != nullptr && pe.pes() > 1) peer = std::make_unique<NcclPeer>(pe, *nccl, shared_id, 2 * half);
  if (options.what == "calls") {
    measure_calls(pe, options, report, arrays, peer.get());
  } else if (options.what == "shapes") {
    measure_shapes(pe, options, report, arrays);
  } else if (options.what == "steps") {
    measure_steps(pe, options, report, arrays);
  } else if (options.what == "resident") {
    measure_resident_calls(pe, options, report);
  } else if (options.what == "floors") {
    measure_puts(pe, report, memory);
  } else {
    usage("There is nothing called " + options.what);
  }
  pe.expect_no_failure("the calls");
  if (report.prints()) std::printf("\n]}\n");
}

}  // namespace
}  // namespace sparkgap::bench

int main(int argc, char** argv) {
  using namespace sparkgap;
  const bench::Options options = bench::parse(argc, argv);
  // Multicast is not compared here.
  setenv("NCCL_NVLS_ENABLE", "0", 1);
  try {
    const test::Shared<ncclUniqueId> shared_id;
    test::run_gpu_pes(options.pes, 500, [&](test::GpuPe& pe) { bench::run(pe, options, *shared_id.operator->()); });
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
