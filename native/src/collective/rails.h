// What allReduce and reduce between nodes share: a message in pieces, of which each rail carries its part.
//
// A rail joins the PEs of the same number in all nodes; there are as many as the smallest node has PEs.
#ifndef SPARKGAP_COLLECTIVE_RAILS_H
#define SPARKGAP_COLLECTIVE_RAILS_H

#include "collective/nodes_algorithms.h"

namespace sparkgap {

// Reduces the call's `in` over all PEs and gives the result to all, or to `root` alone (kNoPe: to all).
void reduce_by_rails(HostNodes& nodes, const CollectiveCall& call, int32_t root);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_RAILS_H
