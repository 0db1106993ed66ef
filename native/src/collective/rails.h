// What allReduce, reduce and broadcast between nodes share: a message in pieces. Of a reduction each rail carries its
// part.
//
// A rail joins the PEs of the same number in all nodes; there are as many as the smallest node has PEs.
#ifndef SPARKGAP_COLLECTIVE_RAILS_H
#define SPARKGAP_COLLECTIVE_RAILS_H

#include "collective/nodes_algorithms.h"

namespace sparkgap {

// Reduces the call's `in` over all PEs and gives the result to all, or to `root` alone (kNoPe: to all). The nodes
// exchange all that they have, in one trip.
void reduce_by_rails(HostNodes& nodes, const CollectiveCall& call, int32_t root);

// The same in two trips, in which each node sends 2 * (nodes - 1) / nodes of what it has. The same bits.
void reduce_by_scattered_rails(HostNodes& nodes, const CollectiveCall& call, int32_t root);

// The root sends each piece to every other node, or, `scattered`, to one of them in turn, which sends it to the others.
void broadcast_by_rails(HostNodes& nodes, const CollectiveCall& call, bool scattered);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_RAILS_H
