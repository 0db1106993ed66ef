#include "collective/dispatch.h"

#include "collective/all_gather/direct.h"
#include "collective/all_gather/staged.h"
#include "collective/all_reduce/direct.h"
#include "collective/all_reduce/one_shot.h"
#include "collective/all_reduce/packets.h"
#include "collective/all_reduce/two_shot.h"
#include "collective/all_to_all/direct.h"
#include "collective/all_to_all/staged.h"
#include "collective/barrier/flags.h"
#include "collective/broadcast/direct.h"
#include "collective/broadcast/staged.h"
#include "collective/reduce/direct.h"
#include "collective/reduce/staged.h"
#include "collective/reduce_scatter/direct.h"
#include "collective/reduce_scatter/staged.h"
#include "reduce/reduce.h"

namespace sparkgap {
namespace {

constexpr int32_t kNoType = -1;
constexpr int32_t kNoOp = -1;
constexpr int32_t kNoRoot = -1;

// Results from here on would not stay in the caches, so they are written past them: that saves reading each line of
// `out` before it is written. In place the line has just been read. Measured; each PE may decide for itself.
constexpr uint64_t kStreamingBytes = 4 * 1024 * 1024;

CopyFunction copy_function(const void* in, const void* out, uint64_t bytes) {
  return bytes >= kStreamingBytes && in != out ? copy_streaming : copy_cached;
}

ReduceFunction reduce_function_for(const void* in, const void* out, uint64_t bytes, int32_t type, int32_t op) {
  return bytes >= kStreamingBytes && in != out ? reduce_function_streaming(type, op) : reduce_function(type, op);
}

// Host: calls direct() where the selector says so. Where it does not, or where direct() returns false because the
// arrays are out of the others' reach, calls otherwise(algorithm) with the one that any memory will do for.
template <class Direct, class Otherwise>
void direct_or(World& world, int32_t collective, uint64_t bytes, const Direct& direct, const Otherwise& otherwise) {
  Algorithm algorithm = world.algorithm_for(collective, bytes);
  if (algorithm == Algorithm::kDirect) {
    if (direct()) return;
    algorithm = select_for_any_memory(collective, bytes, world.circumstances());
  }
  otherwise(algorithm);
}

// Enqueues a collective of a GPU world. `bytes`: as for select().
void enqueue(World& world, uint64_t bytes, kernels::KernelCall& call) {
  call.algorithm = world.algorithm_for(call.collective, bytes);
  world.gpu()->collective(call);
}

kernels::KernelCall kernel_call(int32_t collective, const void* in, void* out, uint64_t count, int32_t type) {
  kernels::KernelCall call;
  call.collective = collective;
  call.in = in;
  call.out = out;
  call.count = count;
  call.type = type;
  call.op = kNoOp;
  call.root = kNoRoot;
  call.send_counts = call.send_offsets = call.receive_counts = call.receive_offsets = nullptr;
  return call;
}

}  // namespace

void all_reduce(World& world, const void* in, void* out, uint64_t count, int32_t type, int32_t op) {
  const Call span(world, {SPARKGAP_ALL_REDUCE, type, op, kNoRoot, count});
  if (count == 0) return;
  const uint64_t element_bytes = type_bytes(type);
  const uint64_t bytes = count * element_bytes;
  if (world.has_gpu()) {
    kernels::KernelCall call = kernel_call(SPARKGAP_ALL_REDUCE, in, out, count, type);
    call.op = op;
    return enqueue(world, bytes, call);
  }
  const ReduceFunction reduce = reduce_function(type, op);
  const CopyFunction copy = copy_function(in, out, bytes);
  direct_or(
      world, SPARKGAP_ALL_REDUCE, bytes,
      [&] { return all_reduce_direct(world, in, out, count, element_bytes, reduce, copy); },
      [&](Algorithm algorithm) {
        switch (algorithm) {
          case Algorithm::kPackets:
            return all_reduce_packets(world, in, out, count, element_bytes, reduce);
          case Algorithm::kOneShot:
            return all_reduce_one_shot(world, in, out, count, element_bytes,
                                       reduce_function_for(in, out, bytes, type, op));
          default:
            return all_reduce_two_shot(world, in, out, count, element_bytes, reduce, copy);
        }
      });
}

void reduce_scatter(World& world, const void* in, void* out, uint64_t count_per_pe, int32_t type, int32_t op) {
  const Call span(world, {SPARKGAP_REDUCE_SCATTER, type, op, kNoRoot, count_per_pe});
  if (count_per_pe == 0) return;
  const uint64_t element_bytes = type_bytes(type);
  const uint64_t bytes = count_per_pe * element_bytes;
  if (world.has_gpu()) {
    kernels::KernelCall call = kernel_call(SPARKGAP_REDUCE_SCATTER, in, out, count_per_pe, type);
    call.op = op;
    return enqueue(world, bytes, call);
  }
  const ReduceFunction reduce = reduce_function(type, op);
  direct_or(
      world, SPARKGAP_REDUCE_SCATTER, bytes,
      [&] { return reduce_scatter_direct(world, in, out, count_per_pe, element_bytes, reduce); },
      [&](Algorithm) { reduce_scatter_staged(world, in, out, count_per_pe, element_bytes, reduce); });
}

void all_gather(World& world, const void* in, void* out, uint64_t count_per_pe, int32_t type) {
  const Call span(world, {SPARKGAP_ALL_GATHER, type, kNoOp, kNoRoot, count_per_pe});
  if (count_per_pe == 0) return;
  const uint64_t bytes = count_per_pe * type_bytes(type);
  if (world.has_gpu()) {
    kernels::KernelCall call = kernel_call(SPARKGAP_ALL_GATHER, in, out, count_per_pe, type);
    return enqueue(world, bytes, call);
  }
  direct_or(
      world, SPARKGAP_ALL_GATHER, bytes,
      [&] { return all_gather_direct(world, in, out, bytes, copy_function(in, out, bytes)); },
      [&](Algorithm) { all_gather_staged(world, in, out, bytes); });
}

void broadcast(World& world, const void* in, void* out, uint64_t count, int32_t type, int32_t root) {
  const Call span(world, {SPARKGAP_BROADCAST, type, kNoOp, root, count});
  if (count == 0) return;
  const uint64_t bytes = count * type_bytes(type);
  if (world.has_gpu()) {
    kernels::KernelCall call = kernel_call(SPARKGAP_BROADCAST, in, out, count, type);
    call.root = root;
    return enqueue(world, bytes, call);
  }
  direct_or(
      world, SPARKGAP_BROADCAST, bytes,
      [&] { return broadcast_direct(world, in, out, bytes, root, copy_function(in, out, bytes)); },
      [&](Algorithm) { broadcast_staged(world, in, out, bytes, root); });
}

void reduce(World& world, const void* in, void* out, uint64_t count, int32_t type, int32_t op, int32_t root) {
  const Call span(world, {SPARKGAP_REDUCE, type, op, root, count});
  if (count == 0) return;
  const uint64_t element_bytes = type_bytes(type);
  const uint64_t bytes = count * element_bytes;
  if (world.has_gpu()) {
    kernels::KernelCall call = kernel_call(SPARKGAP_REDUCE, in, out, count, type);
    call.op = op;
    call.root = root;
    return enqueue(world, bytes, call);
  }
  direct_or(
      world, SPARKGAP_REDUCE, bytes,
      [&] {
        return reduce_direct(world, in, out, count, element_bytes, reduce_function_for(in, out, bytes, type, op), root);
      },
      [&](Algorithm) { reduce_staged(world, in, out, count, element_bytes, reduce_function(type, op), root); });
}

void all_to_all(World& world, const void* in, void* out, uint64_t count_per_pe, int32_t type) {
  const Call span(world, {SPARKGAP_ALL_TO_ALL, type, kNoOp, kNoRoot, count_per_pe});
  if (count_per_pe == 0) return;
  const uint64_t bytes = count_per_pe * type_bytes(type);
  if (world.has_gpu()) {
    kernels::KernelCall call = kernel_call(SPARKGAP_ALL_TO_ALL, in, out, count_per_pe, type);
    return enqueue(world, bytes, call);
  }
  direct_or(
      world, SPARKGAP_ALL_TO_ALL, bytes,
      [&] { return all_to_all_direct(world, in, out, bytes, copy_function(in, out, bytes)); },
      [&](Algorithm) { all_to_all_staged(world, in, out, bytes); });
}

void all_to_allv(World& world, const void* in, const BlockTable& send, void* out, const BlockTable& receive,
                 int32_t type) {
  const Call span(world, {SPARKGAP_ALL_TO_ALLV, type, kNoOp, kNoRoot, 0});
  if (world.has_gpu()) {
    kernels::KernelCall call = kernel_call(SPARKGAP_ALL_TO_ALLV, in, out, 0, type);
    call.send_counts = send.counts;
    call.send_offsets = send.offsets;
    call.receive_counts = receive.counts;
    call.receive_offsets = receive.offsets;
    return enqueue(world, 0, call);
  }
  all_to_allv_staged(world, in, send, out, receive, type_bytes(type));
}

void barrier(World& world) {
  const Call span(world, {SPARKGAP_BARRIER, kNoType, kNoOp, kNoRoot, 0});
  if (world.has_gpu()) {
    kernels::KernelCall call = kernel_call(SPARKGAP_BARRIER, nullptr, nullptr, 0, kNoType);
    return enqueue(world, 0, call);
  }
  barrier_flags(world);
}

}  // namespace sparkgap
