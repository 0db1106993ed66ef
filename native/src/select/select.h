// What a choice depends on, and the rules that are built in: which algorithm suits which size in which world, and what
// an algorithm can carry at all. Pure functions of what all PEs know alike, so that they agree without a word.
//
// A world asks neither for a call: it has its Routes made of them (routes.h).
#ifndef SPARKGAP_SELECT_SELECT_H
#define SPARKGAP_SELECT_SELECT_H

#include <cstdint>
#include <vector>

#include "description/algorithms.h"
#include "description/collective.h"
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

  bool deterministic = false;  // no route that may give other bits in another run

  // What tuning tables are keyed by besides.
  char device[128] = "";  // a GPU as CUDA calls it, a CPU as the kernel does; "" where PEs may have several
  int32_t slowest_link = SPARKGAP_LINK_SHM;
  // Of that link, as the user says; 0: as they are assumed (cost.h).
  double link_us = 0;
  double link_gb_per_s = 0;
  bool gpu_shared = false;      // several PEs are on one GPU
  int32_t nvshmem_version = 0;  // major * 10000 + minor * 100 + patch; 0: not in this world
  int32_t nccl_version = 0;
  bool nccl_beside = false;  // of provider nvshmem: it has NCCL's collectives besides, or it is not known yet

  // More PEs than CPUs, or than GPUs where it is those that matter.
  bool shared() const {
    const bool on_gpu = provider == ProviderKind::kNvshmem || provider == ProviderKind::kNccl;
    return on_gpu ? gpu_shared : oversubscribed || any_oversubscribed;
  }
};

// What a choice is made by: messages of up to `bytes`, which is what one PE gives (given_bytes in description/call.h),
// by `algorithm`. Rows in the order of their sizes; the first whose algorithm can carry the message counts.
struct Rule {
  uint64_t bytes;
  Algorithm algorithm;
};

// Adds the rules that are built in. The last is for all sizes, and for any memory.
void add_rules(int32_t collective, const Circumstances& circumstances, std::vector<Rule>* rules);

// Whether there is `algorithm` in such a world, and for messages of up to how many bytes.
struct Capacity {
  bool there;
  uint64_t bytes;
};
Capacity capacity_of(Algorithm algorithm, const Circumstances& circumstances);

// Whether `algorithm` can carry a message of that size at all.
inline bool can_carry(Algorithm algorithm, uint64_t bytes, const Circumstances& circumstances) {
  const Capacity capacity = capacity_of(algorithm, circumstances);
  return capacity.there && bytes <= capacity.bytes;
}

// Whether the result is the same bits on every PE and in every run. NCCL reduces in an order that is its own affair.
constexpr bool gives_same_bits(int32_t collective, Algorithm algorithm) {
  return algorithm != Algorithm::kDefault || !kCollectives[collective].has_op;
}

// Whether it reads arrays where they are, which the others may not be able to: then a call takes what is for any
// memory.
constexpr bool needs_readable_arrays(Algorithm algorithm) { return algorithm == Algorithm::kDirect; }

}  // namespace sparkgap

#endif  // SPARKGAP_SELECT_SELECT_H
