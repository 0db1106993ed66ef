// One call of a collective on the GPU, with all that a caller can choose, and what its result has to be.
#ifndef SPARKGAP_TEST_GPU_KERNEL_CASE_H
#define SPARKGAP_TEST_GPU_KERNEL_CASE_H

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/gpu_pes.h"
#include "support/calls.h"

namespace sparkgap::test {

struct KernelCase {
  int32_t collective = 0;
  Algorithm algorithm = Algorithm::kAuto;
  int32_t type = 0;
  int32_t op = 0;
  uint64_t count = 0;  // or count_per_pe; for allToAllv the most that one PE sends to another
  int32_t root = 0;
  bool in_place = false;
  bool symmetric = false;     // `out` is given with its place
  bool shift_apart = false;   // with symmetric: PEs give different places
  int shift = 0;              // elements between the start of the memory and the arrays
  kernels::Shape shape = {};  // as the world's routes say
  uint64_t salt = 0;          // different salts, different inputs
};

std::string describe(const KernelCase& c);

// One PE's memory for cases, and the calls.
class KernelRunner {
 public:
  // Collective. No array of a case may be larger.
  KernelRunner(GpuPe& pe, const Inputs& inputs, uint64_t array_bytes);

  // Puts the inputs where they belong and enqueues the call; nothing is waited for.
  void enqueue(const KernelCase& c);
  // Waits, and throws a Failure unless the result is right and nothing was written behind it. Returns a hash of the
  // result where all PEs must have the same one, else 0.
  uint64_t check(const KernelCase& c);

  // The call as it is, on arrays that hold the case's inputs or whatever has become of them.
  void call(const KernelCase& c);

 private:
  struct Arrays {
    uint8_t* in;
    uint8_t* out;
    uint64_t offset;  // of out in its memory
  };

  Arrays arrays_of(const KernelCase& c) const;
  void check_run(const KernelCase& c, const Run& run);

  GpuPe& pe_;
  const Inputs& inputs_;
  uint64_t capacity_;
  PeerMemory in_;
  PeerMemory out_;
  std::vector<char> host_in_;
  std::vector<char> host_out_;
};

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_GPU_KERNEL_CASE_H
