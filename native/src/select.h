// Which algorithm a collective takes: a pure function of what all PEs know alike, so that they agree without a word.
#ifndef SPARKGAP_SELECT_H
#define SPARKGAP_SELECT_H

#include <cstdint>

#include "sparkgap/sparkgap.h"

namespace sparkgap::kernels {
struct Tuning;
}

namespace sparkgap {

enum class Algorithm : int32_t {
  kAuto = 0,  // let select() decide
  kPackets,
  kLines,
  kOneShot,
  kTwoShot,
  kStaged,
  kDirect,  // needs arrays that the others can read, which only the call itself can find out
  kFlags,
  kChunked,
  kRing,
  kDefault,  // what the provider's own library does
};

enum class ProviderKind : int32_t { kHost = 0, kNvshmem, kNccl };
constexpr int32_t kProviderKinds = 3;

// What is alike on all PEs of a world, from connect on.
struct Circumstances {
  int32_t pes = 1;
  bool oversubscribed = false;  // more PEs than CPUs: a wait costs a context switch
  ProviderKind provider = ProviderKind::kHost;
  // On GPUs: blocks that a kernel may have (kernels::lanes_for); 0 where PEs cannot write into each other's memory, so
  // that only the provider's own collectives are left.
  int32_t lanes = 0;
  // On GPUs: some PEs reach each other over PCI Express.
  bool pcie = false;
  // On GPUs: which algorithm suits which size; nullptr: as on an H200.
  const kernels::Tuning* tuning = nullptr;
};

// `bytes` is what one PE gives to the collective: in for those that have one size, the block for one peer for
// reduceScatter, allGather and allToAll.
Algorithm select(int32_t collective, uint64_t bytes, const Circumstances& circumstances);

// Host: what a call takes that was to be direct but finds an array that the others cannot read.
Algorithm select_for_any_memory(int32_t collective, uint64_t bytes, const Circumstances& circumstances);

// Whether `algorithm` can carry a message of that size at all.
bool can_carry(Algorithm algorithm, uint64_t bytes, const Circumstances& circumstances);

// The algorithm of that name that `collective` has on the provider; kAuto for "auto". False if there is none.
bool find_algorithm(int32_t collective, const char* name, ProviderKind provider, Algorithm* algorithm);

// "one-shot, two-shot": what find_algorithm knows for `collective`. Static.
const char* algorithm_names(int32_t collective, ProviderKind provider);

// "host/one-shot": the route that an algorithm has on a provider. Static.
const char* route_name(ProviderKind provider, Algorithm algorithm);

}  // namespace sparkgap

#endif  // SPARKGAP_SELECT_H
