// The same measurement as collective_bench, of the MPI library that it is built with: run it with mpirun.
#include <mpi.h>

#include <cstring>

#include "measure.h"

namespace sparkgap::bench {
namespace {

bool call(const std::string& collective, const void* in, void* out, int count) {
  if (collective == "allReduce") {
    MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  } else if (collective == "reduceScatter") {
    MPI_Reduce_scatter_block(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
  } else if (collective == "allGather") {
    MPI_Allgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, MPI_COMM_WORLD);
  } else if (collective == "broadcast") {
    MPI_Bcast(out, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
  } else if (collective == "reduce") {
    MPI_Reduce(in, out, count, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD);
  } else if (collective == "allToAll") {
    MPI_Alltoall(in, count, MPI_FLOAT, out, count, MPI_FLOAT, MPI_COMM_WORLD);
  } else if (collective == "barrier") {
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    return false;
  }
  return true;
}

void* touched(size_t bytes) {
  const size_t whole_pages = (bytes + 4095) / 4096 * 4096;
  void* memory = std::aligned_alloc(4096, whole_pages);
  if (memory == nullptr) {
    std::fprintf(stderr, "no memory for an array of %zu bytes\n", whole_pages);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  std::memset(memory, 0, whole_pages);
  return memory;
}

void measure(Options options) {
  int pe = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &pe);
  MPI_Comm_size(MPI_COMM_WORLD, &options.pes);
  void* in = touched(options.to_bytes * options.pes);
  void* out = touched(options.to_bytes * options.pes);
  if (!call(options.collective, in, out, 1)) usage(("There is no collective " + options.collective).c_str());

  const auto barrier = [] { MPI_Barrier(MPI_COMM_WORLD); };
  const auto slowest = [](double seconds) {
    double most = 0;
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
  };
  std::vector<Result> results;
  for (size_t bytes = options.from_bytes; bytes <= options.to_bytes; bytes *= options.factor) {
    const int count = static_cast<int>(bytes / 4);
    const double microseconds = microseconds_per_call(
        iterations_for(bytes), [&] { call(options.collective, in, out, count); }, barrier, slowest);
    results.push_back({bytes, microseconds, "mpi"});
  }
  std::free(in);
  std::free(out);
  if (pe != 0) return;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  print_json(std::string(version, std::strcspn(version, ",\n")).c_str(), options, results);
}

}  // namespace
}  // namespace sparkgap::bench

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  sparkgap::bench::measure(sparkgap::bench::parse_options(argc, argv));
  MPI_Finalize();
}
