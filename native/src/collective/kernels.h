// What the platform asks of the kernels: how much memory a world of them needs, and one function that enqueues a
// collective. Plain C++: neither CUDA's headers nor its types are needed to call this.
//
// The kernels know no provider. They get, for each PE, the address at which this process sees that PE's scratch, and
// they write into the scratch of others and read only their own. `in` and `out` may be any device memory of this
// process (or mapped host memory); only where all PEs give the same place of a symmetric buffer are results written
// straight into the others' `out`.
//
// Threads: launch() is called by the world's thread. Nothing here waits for the device or allocates. The launches of a
// world run one after the other, in the order of the calls: whoever changes streams lets the new one wait for the old.
#ifndef SPARKGAP_COLLECTIVE_KERNELS_H
#define SPARKGAP_COLLECTIVE_KERNELS_H

#include <cstdint>

#include "description/call.h"
#include "protocol/kernel_world.h"
#include "select/routes.h"

struct CUstream_st;

namespace sparkgap::kernels {

// Once for each world, before its first launch: loads the kernels that need it. A cudaError_t.
int32_t prepare_kernels();

// What makes launches cheap on this host (launch_cache.h). Belongs to the world's thread. make fills *cache or returns
// a cudaError_t; `compute_major` is that of the current GPU. NULL can be destroyed.
class LaunchCache;
int32_t make_launch_cache(int32_t compute_major, LaunchCache** cache);
void destroy_launch_cache(LaunchCache* cache);

// Bytes of symmetric memory that each PE of a world of `pes` needs. The same on all PEs.
uint64_t scratch_bytes(int32_t pes);

// Where in it the channels of users' kernels are.
uint64_t exchange_at(int32_t pes);

// How many lanes a world may use so that all blocks of all PEs on one GPU find room, without which PEs that wait for
// each other would wait for ever. `multiprocessors`: of the smallest GPU of the world; `pes_per_device`: most PEs that
// share one. At least 1.
int32_t lanes_for(int32_t multiprocessors, int32_t pes_per_device);

// A collective as its caller made it, and what the kernels want to know besides.
struct KernelCall : CollectiveCall {
  // Where `out` lies in symmetric memory: the buffer's number (from 1, alike on all PEs) in the upper 24 bits, the
  // offset in the lower 40; 0 if it does not, or not in one buffer of which every PE can address every part. PEs need
  // not agree: the kernels compare, and write straight into the others' `out` only if all are the same.
  uint64_t place;
  const void* peer_out[kMaxPes];  // where this process sees the others' bytes at `place`; used only with a place
  Shape shape;                    // blocks 0: as the world's routes say
  uint32_t signature;             // filled by launch()
};

// Enqueues `call` on `stream` (may be capturing: a graph of it can be launched again and again). Every PE makes the
// same call. Returns a cudaError_t: 0, or why the launch failed. A count of zero launches nothing, except for a
// barrier and an allToAllv.
int32_t launch(const KernelWorld& world, CUstream_st* stream, const KernelCall& call);

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_KERNELS_H
