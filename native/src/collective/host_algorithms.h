// The algorithms on host memory, as description/algorithms.h lists them: one function each, in the file
// collective/<operation>/<algorithm>.cc that begins with what it does.
#ifndef SPARKGAP_COLLECTIVE_HOST_ALGORITHMS_H
#define SPARKGAP_COLLECTIVE_HOST_ALGORITHMS_H

#include "collective/host_node.h"
#include "description/call.h"
#include "reduce/reduce.h"

namespace sparkgap {

// Carries out a call that has been checked and is not empty. False, on all PEs alike, if it could not because of where
// the arrays lie (`direct` alone); then `in` is as it was.
using HostAlgorithm = bool(HostNode& node, const CollectiveCall& call);

#define SPARKGAP_DECLARED(collective, name, function) HostAlgorithm function;
SPARKGAP_HOST_ALGORITHMS(SPARKGAP_DECLARED)
#undef SPARKGAP_DECLARED

struct HostTable {
  HostAlgorithm* of[SPARKGAP_COLLECTIVES][kAlgorithms];
};

constexpr HostTable make_host_table() {
  HostTable table = {};
#define SPARKGAP_ENTRY(collective, name, function) \
  table.of[SPARKGAP_##collective][static_cast<int32_t>(Algorithm::name)] = function;
  SPARKGAP_HOST_ALGORITHMS(SPARKGAP_ENTRY)
#undef SPARKGAP_ENTRY
  return table;
}

inline constexpr HostTable kHostTable = make_host_table();

// nullptr if there is none.
inline HostAlgorithm* host_algorithm(int32_t collective, Algorithm algorithm) {
  return kHostTable.of[collective][static_cast<int32_t>(algorithm)];
}

// Results from here on would not stay in the caches, so they are written past them: that saves reading each line of
// `out` before it is written. In place the line has just been read. Measured; each PE may decide for itself.
constexpr uint64_t kStreamingBytes = 4 * 1024 * 1024;

inline bool goes_past_caches(const CollectiveCall& call) {
  return given_bytes(call) >= kStreamingBytes && call.in != call.out;
}

// What moves bytes to `out`.
inline CopyFunction copy_to_out(const CollectiveCall& call) {
  return goes_past_caches(call) ? copy_streaming : copy_cached;
}

// What reduces into memory that is read again soon, and what reduces to `out`.
inline ReduceFunction reduce_of(const CollectiveCall& call) { return reduce_function(call.type, call.op); }
inline ReduceFunction reduce_to_out(const CollectiveCall& call) {
  return goes_past_caches(call) ? reduce_function_streaming(call.type, call.op) : reduce_of(call);
}

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_HOST_ALGORITHMS_H
