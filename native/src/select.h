// Which algorithm a collective takes: a pure function of what all PEs know alike, so that they agree without a word.
#ifndef SPARKGAP_SELECT_H
#define SPARKGAP_SELECT_H

#include <cstdint>

#include "sparkgap/sparkgap.h"

namespace sparkgap {

enum class Algorithm : int32_t {
  kAuto = 0,  // let select() decide
  kPackets,
  kOneShot,
  kTwoShot,
  kStaged,
  kDirect,  // needs symmetric arrays, which only the call itself can find out
  kFlags,
};

// What is alike on all PEs of a world, from connect on.
struct Circumstances {
  int32_t pes = 1;
  bool oversubscribed = false;  // more PEs than CPUs: a wait costs a context switch
};

// `bytes` is what one PE gives to the collective: in for those that have one size, the block for one peer for
// reduceScatter, allGather and allToAll.
Algorithm select(int32_t collective, uint64_t bytes, const Circumstances& circumstances);

// What a call takes that was to be direct but finds an array outside the symmetric heap.
Algorithm select_for_any_memory(int32_t collective, uint64_t bytes, const Circumstances& circumstances);

// Whether `algorithm` can carry a message of that size at all.
bool can_carry(Algorithm algorithm, uint64_t bytes);

// The algorithm of that name that `collective` has; kAuto for "auto". False if there is none.
bool find_algorithm(int32_t collective, const char* name, Algorithm* algorithm);

// "one-shot, two-shot": what find_algorithm knows for `collective`.
const char* algorithm_names(int32_t collective);

// "host/one-shot": the route that an algorithm has on the host provider. Static.
const char* host_route_name(Algorithm algorithm);

}  // namespace sparkgap

#endif  // SPARKGAP_SELECT_H
