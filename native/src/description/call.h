// One collective call, as its caller made it: the same struct from the C interface through the world and its engine to
// the algorithm.
#ifndef SPARKGAP_DESCRIPTION_CALL_H
#define SPARKGAP_DESCRIPTION_CALL_H

#include <cstdint>

#include "description/algorithms.h"
#include "description/collective.h"
#include "description/types.h"

namespace sparkgap {

// What a collective does not have is 0 here.
struct CollectiveCall {
  int32_t collective;   // SPARKGAP_ALL_REDUCE...
  Algorithm algorithm;  // what select() said
  int32_t type;
  int32_t op;
  int32_t root;
  uint64_t count;  // or count_per_pe
  const void* in;
  void* out;
  // allToAllv, in elements: an entry for each PE.
  const uint64_t* send_counts;
  const uint64_t* send_offsets;
  const uint64_t* receive_counts;
  const uint64_t* receive_offsets;
};

constexpr CollectiveCall make_call(int32_t collective, const void* in, void* out, uint64_t count, int32_t type,
                                   int32_t op = 0, int32_t root = 0) {
  CollectiveCall call = {};
  call.collective = collective;
  call.type = type;
  call.op = op;
  call.root = root;
  call.count = count;
  call.in = in;
  call.out = out;
  return call;
}

constexpr const Collective& description_of(const CollectiveCall& call) { return kCollectives[call.collective]; }

// What one PE gives, which is what algorithms are selected by: `in` for collectives that have one size, the block for
// one peer for those that have blocks. 0 where PEs do not know each other's sizes.
constexpr uint64_t given_bytes(const CollectiveCall& call) { return call.count * element_bytes(call.type); }

// Whether the call has nothing to do on any PE.
constexpr bool is_empty(const CollectiveCall& call) { return description_of(call).has_count && call.count == 0; }

// Of an array without tables; for the tables see the call.
constexpr uint64_t array_bytes(const CollectiveCall& call, Array array, int32_t pes) {
  return given_bytes(call) * blocks_of(array, static_cast<uint64_t>(pes));
}

// What a PE gives in all: the whole of `in`, whether or not it is this PE that gives it.
constexpr uint64_t bytes_of_in(const CollectiveCall& call, int32_t pes) {
  const Collective& what = description_of(call);
  if (!what.has_tables()) return array_bytes(call, what.in, pes);
  uint64_t elements = 0;
  for (int32_t pe = 0; pe < pes; ++pe) elements += call.send_counts[pe];
  return elements * element_bytes(call.type);
}

}  // namespace sparkgap

#endif  // SPARKGAP_DESCRIPTION_CALL_H
