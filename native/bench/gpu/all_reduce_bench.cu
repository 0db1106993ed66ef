// All-reduce of float32 by size, ours beside NCCL in one run, with the floors of the machine, as JSON on stdout.
//
//   gpu_all_reduce_bench --pes 2 [--from 64] [--to 67108864] [--factor 4] [--nccl PATH]
//                        [--algorithms auto,packets,two-shot,ring]
//
// NCCL refuses two PEs on one GPU, so there it is left out.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "gpu/gpu_pes.h"
#include "measure.h"
#include "nccl_peer.h"
#include "select/select.h"

namespace sparkgap::bench {
namespace {

using test::cuda_ok;
using test::GpuPe;

struct Options {
  int pes = 2;
  uint64_t from = 64;
  uint64_t to = 64 << 20;
  uint64_t factor = 4;
  std::string nccl = "libnccl.so.2";
  std::string algorithms = "auto";
};

[[noreturn]] void usage(const std::string& wrong) {
  std::fprintf(stderr, "%s\nOptions: --pes N --from BYTES --to BYTES --factor N --nccl PATH --algorithms A,B\n",
               wrong.c_str());
  std::exit(2);
}

Options parse(int argc, char** argv) {
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
    } else if (name == "--algorithms") {
      options.algorithms = value;
    } else {
      usage("There is no option " + name);
    }
  }
  return options;
}

__global__ void empty_kernel() {}

__global__ void link_copy(uint4* to, const uint4* from, uint64_t count) {
  for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) to[i] = from[i];
}

// Prints from PE 0, one result a line of a JSON array.
class Report {
 public:
  explicit Report(const GpuPe& pe) : prints_(pe.pe() == 0) {}

  void add(const char* library, const std::string& memory, const char* mode, const std::string& route, uint64_t bytes,
           double us) {
    if (!prints_) return;
    std::printf(
        "%s\n  {\"library\": \"%s\", \"memory\": \"%s\", \"mode\": \"%s\", \"route\": \"%s\", \"bytes\": %lu, "
        "\"us\": %.3f}",
        first_ ? "" : ",", library, memory.c_str(), mode, route.c_str(), bytes, us);
    std::fflush(stdout);
    first_ = false;
  }

  bool prints() const { return prints_; }

 private:
  bool prints_;
  bool first_ = true;
};

int iterations_for(uint64_t bytes) { return bytes <= (1 << 20) ? 400 : bytes <= (16 << 20) ? 60 : 20; }

void measure_all(GpuPe& pe, Report& report, const char* library, const std::string& memory, const std::string& route,
                 uint64_t bytes, const Enqueue& enqueue) {
  const int iterations = iterations_for(bytes);
  report.add(library, memory, "stream", route, bytes, by_stream(pe, iterations, enqueue));
  report.add(library, memory, "graph", route, bytes, in_graph(pe, std::max(2, iterations / 20), enqueue));
  report.add(library, memory, "sync", route, bytes, launch_and_sync(pe, std::min(iterations, 100), enqueue));
}

// What the machine can do: times in us, the link's bandwidth from 1 to its neighbour in GB/s.
void report_floors(GpuPe& pe, const test::PeerMemory& memory) {
  const Enqueue empty = [&] { empty_kernel<<<1, 32, 0, pe.stream>>>(); };
  const double stream = by_stream(pe, 400, empty);
  const double graph = in_graph(pe, 20, empty);
  const double sync = launch_and_sync(pe, 100, empty);
  constexpr uint64_t kBytes = 64 << 20;
  uint8_t* to = memory.parts[(pe.pe() + 1) % pe.pes()];
  const double copy = by_stream(pe, 10, [&] {
    link_copy<<<128, 512, 0, pe.stream>>>(reinterpret_cast<uint4*>(to + kBytes),
                                          reinterpret_cast<const uint4*>(memory.own()), kBytes / sizeof(uint4));
  });
  if (pe.pe() != 0) return;
  std::printf(
      "\"floors\": {\"empty_kernel_stream_us\": %.3f, \"empty_kernel_graph_us\": %.3f, "
      "\"empty_kernel_sync_us\": %.3f, \"copy_to_neighbour_gb_per_s\": %.1f},\n",
      stream, graph, sync, kBytes / copy / 1e3);
}

void describe_machine(const GpuPe& pe, const Options& options, const Nccl* nccl) {
  cudaDeviceProp properties;
  int driver = 0, runtime = 0, nccl_version = 0;
  cuda_ok(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  cuda_ok(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  cuda_ok(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  if (nccl != nullptr) nccl->ok(nccl->version(&nccl_version), "ncclGetVersion");
  std::printf(
      "{\"collective\": \"allReduce\", \"type\": \"float32\", \"op\": \"SUM\", \"pes\": %d, \"gpus\": %d, "
      "\"gpu\": \"%s\", \"cuda_driver\": %d, \"cuda_runtime\": %d, \"nccl\": %d,\n",
      options.pes, pe.gpus(), properties.name, driver, runtime, nccl_version);
}

std::vector<std::pair<std::string, Algorithm>> algorithms_of(const Options& options) {
  std::vector<std::pair<std::string, Algorithm>> algorithms;
  for (size_t at = 0; at < options.algorithms.size();) {
    const size_t end = std::min(options.algorithms.find(',', at), options.algorithms.size());
    const std::string name = options.algorithms.substr(at, end - at);
    Algorithm algorithm;
    if (!find_algorithm(SPARKGAP_ALL_REDUCE, name.c_str(), ProviderKind::kNvshmem, &algorithm)) {
      usage("There is no algorithm " + name);
    }
    algorithms.emplace_back(name, algorithm);
    at = end + 1;
  }
  return algorithms;
}

void measure_ours(GpuPe& pe, const Options& options, Report& report, const test::PeerMemory& memory, uint64_t bytes) {
  Circumstances circumstances;
  circumstances.pes = pe.pes();
  circumstances.provider = ProviderKind::kNvshmem;
  circumstances.lanes = pe.world.lanes;
  for (const auto& [name, held] : algorithms_of(options)) {
    kernels::KernelCall call = {};
    call.collective = SPARKGAP_ALL_REDUCE;
    call.algorithm = held == Algorithm::kAuto ? select(SPARKGAP_ALL_REDUCE, bytes, circumstances) : held;
    if (!can_carry(call.algorithm, bytes, circumstances)) continue;
    call.type = SPARKGAP_FLOAT32;
    call.op = SPARKGAP_SUM;
    call.count = bytes / 4;
    call.in = memory.own();
    call.out = memory.own() + options.to;
    const std::string route = route_name(ProviderKind::kNvshmem, call.algorithm);
    const Enqueue enqueue = [&] { pe.launch(call); };
    measure_all(pe, report, "sparkgap", "private", route, bytes, enqueue);
    if (call.algorithm == Algorithm::kPackets) continue;
    call.place = uint64_t{1} << 40 | options.to;
    for (int i = 0; i < pe.pes(); ++i) call.peer_out[i] = memory.parts[i] + options.to;
    measure_all(pe, report, "sparkgap", "symmetric", route, bytes, enqueue);
  }
}

// NCCL's communicator of this PE, and symmetric memory of it.
class NcclPeer {
 public:
  NcclPeer(GpuPe& pe, const Nccl& nccl, ncclUniqueId& shared_id, uint64_t bytes) : nccl_(nccl) {
    if (pe.pe() == 0) nccl.ok(nccl.unique_id(&shared_id), "ncclGetUniqueId");
    pe.meet();
    nccl.ok(nccl.init(&communicator_, pe.pes(), shared_id, pe.pe()), "ncclCommInitRank");
    nccl.ok(nccl.allocate(&symmetric_, 2 * bytes), "ncclMemAlloc");
    cuda_ok(cudaMemset(symmetric_, 0, 2 * bytes), "cudaMemset");
    nccl.ok(nccl.register_window(communicator_, symmetric_, 2 * bytes, &window_, NCCL_WIN_COLL_SYMMETRIC),
            "ncclCommWindowRegister");
    half_ = bytes;
  }

  void measure(GpuPe& pe, Report& report, const test::PeerMemory& memory, uint64_t bytes) {
    const auto run = [&](const char* kind, const char* route, uint8_t* base) {
      measure_all(pe, report, "nccl", kind, route, bytes, [&] {
        nccl_.ok(nccl_.all_reduce(base, base + half_, bytes / 4, ncclFloat32, ncclSum, communicator_, pe.stream),
                 "ncclAllReduce");
      });
    };
    run("private", "nccl/default", memory.own());
    if (window_ != nullptr) run("symmetric", "nccl/symmetric", static_cast<uint8_t*>(symmetric_));
  }

 private:
  const Nccl& nccl_;
  ncclComm_t communicator_ = nullptr;
  ncclWindow_t window_ = nullptr;
  void* symmetric_ = nullptr;
  uint64_t half_ = 0;
};

void run(GpuPe& pe, const Options& options, ncclUniqueId& shared_id) {
  const std::unique_ptr<Nccl> nccl = pe.gpus() >= pe.pes() ? Nccl::load(options.nccl.c_str()) : nullptr;
  const test::PeerMemory memory = pe.allocate(2 * std::max<uint64_t>(options.to, 64 << 20));
  Report report(pe);
  if (report.prints()) describe_machine(pe, options, nccl.get());
  report_floors(pe, memory);
  std::unique_ptr<NcclPeer> peer;
  if (nccl != nullptr && pe.pes() > 1) peer = std::make_unique<NcclPeer>(pe, *nccl, shared_id, options.to);
  if (report.prints()) std::printf("\"results\": [");
  for (uint64_t bytes = options.from; bytes <= options.to; bytes *= options.factor) {
    measure_ours(pe, options, report, memory, bytes);
    if (peer != nullptr) peer->measure(pe, report, memory, bytes);
  }
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
