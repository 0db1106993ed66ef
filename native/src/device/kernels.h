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
#ifndef SPARKGAP_DEVICE_KERNELS_H
#define SPARKGAP_DEVICE_KERNELS_H

#include <cstdint>

#include "select.h"

struct CUstream_st;

namespace sparkgap::kernels {

struct Tuning;

// PEs of a GPU world, which is on one host. Tables of this size are kernel parameters.
constexpr int32_t kMaxPes = 16;

// Most lanes (blocks that exchange data independently of each other) that any kernel uses.
constexpr int32_t kMaxLanes = 128;

// What a PE can send in one call in packets, and in lines: the message times the PEs that it goes to.
constexpr uint64_t kPacketBytes = 256 << 10;
constexpr uint64_t kLineBytes = 8 << 20;

enum class WaitEnd : uint32_t {
  kNone = 0,
  kDeadline = 1,        // `peer` did not come within KernelWorld::deadline_ns
  kAborted = 2,         // the abort word was raised while waiting for `peer`
  kCountsDisagree = 3,  // allToAllv: `peer` sends `seen` bytes where this PE expects `expected`
  kCallsDiffer = 4,     // `peer` has made another call: its signature is `seen`, this PE's `expected`
};

// In mapped host memory, one for each PE; the host zeroes it when the world is made. A kernel that gives up fills it
// once and writes `end` last; whatever this PE enqueued behind it gives up as well, with the record unchanged.
struct WaitRecord {
  uint32_t end;        // WaitEnd
  int32_t collective;  // SPARKGAP_ALL_REDUCE...
  int32_t peer;        // whom it waited for
  int32_t lane;        // in which slot
  uint64_t expected;   // the lane's sequence number, or bytes (kCountsDisagree), or a signature (kCallsDiffer)
  uint64_t seen;       // what was there instead
};

// What makes launches cheap on this host (launch_cache.h). Belongs to the world's thread. make fills *cache or returns a
// cudaError_t; `compute_major` is that of the current GPU. NULL can be destroyed.
class LaunchCache;
int32_t make_launch_cache(int32_t compute_major, LaunchCache** cache);
void destroy_launch_cache(LaunchCache* cache);

// One PE's view of its world, made at connect and unchanged from then on. Addresses are device addresses.
struct KernelWorld {
  int32_t pe;
  int32_t pes;                 // 1..kMaxPes
  int32_t lanes;               // from lanes_for(); the same on all PEs
  int32_t wide_lanes;          // from wide_lanes_for(); the same on all PEs
  int32_t compute_major;       // of this PE's GPU: from 9 on back-to-back launches overlap
  uint64_t deadline_ns;        // of each wait of a kernel
  void* scratch[kMaxPes];      // scratch_bytes() each, zeroed on all PEs before the first launch on any; aligned to 256
  const uint32_t* abort_word;  // mapped host memory: not 0 ends every wait
  WaitRecord* record;          // mapped host memory
  LaunchCache* launches;       // not for the device; may be NULL, then every call is a launch by itself
  const Tuning* tuning;        // not for the device; the same on all PEs
};

// Bytes of symmetric memory that each PE of a world of `pes` needs. The same on all PEs.
uint64_t scratch_bytes(int32_t pes);

// How many lanes a world may use so that all blocks of all PEs on one GPU are resident at once, without which PEs that
// wait for each other would wait for ever. `multiprocessors`: of the smallest GPU of the world; `pes_per_device`: most
// PEs that share one. At least 1.
int32_t lanes_for(int32_t multiprocessors, int32_t pes_per_device);

// The same for kernels of which a multiprocessor has room for one block only. Of a PE that has its GPU for itself, what is
// launched next waits for room without harm.
int32_t wide_lanes_for(int32_t lanes, int32_t pes_per_device);

// How a kernel is launched and cuts its message; device/tuning.cc has one for each algorithm and size. All PEs of a call
// have the same.
struct Shape {
  int32_t blocks;        // at most; fewer where the message does not need them or the world has fewer lanes
  int32_t threads;       // packets and lines: of a block, at most
  uint32_t chunk_bytes;  // chunks: at most
  int32_t senders;       // chunks: warps of a block that send; 0: one thread by bulk copies where it can
  int32_t groups;        // chunks: groups of the other warps, each of which takes whole chunks; 0: one
};

// One collective as its caller made it; see sparkgap.h for the meaning of counts and the rules for in place.
struct KernelCall {
  int32_t collective;   // SPARKGAP_ALL_REDUCE...
  Algorithm algorithm;  // what select() said
  int32_t type;
  int32_t op;
  int32_t root;
  uint64_t count;  // or count_per_pe
  const void* in;
  void* out;
  // Where `out` lies in symmetric memory: the buffer's number (from 1, alike on all PEs) in the upper 24 bits, the
  // offset in the lower 40; 0 if it does not, or not in one buffer of which every PE can address every part. PEs need
  // not agree: the kernels compare, and write straight into the others' `out` only if all are the same.
  uint64_t place;
  const void* peer_out[kMaxPes];  // where this process sees the others' bytes at `place`; used only with a place
  // allToAllv, in elements: pes entries each.
  const uint64_t* send_counts;
  const uint64_t* send_offsets;
  const uint64_t* receive_counts;
  const uint64_t* receive_offsets;
  Shape shape;         // blocks 0: as the world's tuning says
  uint32_t signature;  // filled by launch()
};

// Enqueues `call` on `stream` (may be capturing: a graph of it can be launched again and again). Every PE makes the
// same call. Returns a cudaError_t: 0, or why the launch failed. A count of zero launches nothing, except for a
// barrier and an allToAllv.
int32_t launch(const KernelWorld& world, CUstream_st* stream, const KernelCall& call);

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_DEVICE_KERNELS_H
