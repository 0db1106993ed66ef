// The algorithms on host memory of several nodes, as description/algorithms.h lists them: one function each, in the
// file collective/<operation>/<algorithm>.cc that begins with what it does.
#ifndef SPARKGAP_COLLECTIVE_NODES_ALGORITHMS_H
#define SPARKGAP_COLLECTIVE_NODES_ALGORITHMS_H

#include "collective/host_algorithms.h"
#include "collective/host_nodes.h"

namespace sparkgap {

// Carries out a call that has been checked and is not empty. What it has sent may still be read from where it was sent
// from when it returns (Channels::flush), but not from `in` if that is overwritten by the call itself.
using NodesAlgorithm = void(HostNodes& nodes, const CollectiveCall& call);

#define SPARKGAP_DECLARED(collective, name, function) NodesAlgorithm function;
SPARKGAP_NODES_ALGORITHMS(SPARKGAP_DECLARED)
#undef SPARKGAP_DECLARED

// nullptr if there is none.
NodesAlgorithm* nodes_algorithm(int32_t collective, Algorithm algorithm);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_NODES_ALGORITHMS_H
