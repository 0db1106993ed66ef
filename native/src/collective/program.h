// The calls of a step by one kernel, which goes through them: instead of a kernel for each, of which the next begins
// when the one before has ended and all that it wrote has arrived. For calls in packets; program.cu says how.
//
// On the link it is what the calls one by one are, so a PE may make them so while another has them in a program.
#ifndef SPARKGAP_COLLECTIVE_PROGRAM_H
#define SPARKGAP_COLLECTIVE_PROGRAM_H

#include <cstddef>
#include <memory>

#include "collective/kernels.h"

namespace sparkgap::kernels {

// Belongs to the world's thread.
class Program {
 public:
  Program();
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Begins anew.
  void clear();

  // The next call, which is not empty, as launch() takes it, at its place in the step (world.place). All PEs come to
  // the same with the same calls.
  void add(const KernelWorld& world, const KernelCall& call);

  // How many were added; 0 if there was one among them that cannot be part of a program, or if they are no faster so.
  size_t calls() const;

  // What a launch needs in GPU memory; and puts it there, in the order of the stream. A cudaError_t.
  size_t bytes() const;
  int32_t upload(void* memory, CUstream_st* stream) const;

  // Enqueues all calls, on a stream that may be capturing. `memory` stays as it is until what is enqueued is done. A
  // cudaError_t.
  int32_t launch(const KernelWorld& world, CUstream_st* stream, const void* memory) const;

 private:
  struct Calls;
  std::unique_ptr<Calls> calls_;
};

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_PROGRAM_H
