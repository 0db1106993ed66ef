// Which algorithm a collective takes: a pure function of what all PEs know alike, so that they agree without a word.
#ifndef SPARKGAP_SELECT_SELECT_H
#define SPARKGAP_SELECT_SELECT_H

#include <cstdint>

#include "description/algorithms.h"
#include "select/tuning.h"

namespace sparkgap {

// What is alike on all PEs of a world, from connect on.
struct Circumstances {
  int32_t pes = 1;
  bool oversubscribed = false;  // more PEs than CPUs: a wait costs a context switch; between nodes only of this machine
  ProviderKind provider = ProviderKind::kHost;
  // On GPUs: blocks that a kernel may have (kernels::lanes_for); 0 where PEs cannot write into each other's memory, so
  // that only the provider's own collectives are left.
  int32_t lanes = 0;
  // On GPUs: some PEs reach each other over PCI Express.
  bool pcie = false;
  // On GPUs: which algorithm suits which size; nullptr: as on an H200.
  const kernels::Tuning* tuning = nullptr;
  int32_t nodes = 1;
  bool any_oversubscribed = false;  // on several nodes: so it is on some machine
  // On several nodes: up to here an allReduce takes one trip between all PEs.
  uint64_t one_trip_bytes = 0;
};

// `bytes` is what one PE gives to the collective (given_bytes in description/call.h).
Algorithm select(int32_t collective, uint64_t bytes, const Circumstances& circumstances);

// Host: what a call takes that was to be direct but finds an array that the others cannot read.
Algorithm select_for_any_memory(int32_t collective, uint64_t bytes, const Circumstances& circumstances);

// Whether `algorithm` can carry a message of that size at all.
bool can_carry(Algorithm algorithm, uint64_t bytes, const Circumstances& circumstances);

}  // namespace sparkgap

#endif  // SPARKGAP_SELECT_SELECT_H
