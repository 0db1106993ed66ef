#include "collective/nodes_algorithms.h"

namespace sparkgap {
namespace {

struct NodesTable {
  NodesAlgorithm* of[SPARKGAP_COLLECTIVES][kAlgorithms];
};

constexpr NodesTable make_nodes_table() {
  NodesTable table = {};
#define SPARKGAP_ENTRY(collective, name, function) \
  table.of[SPARKGAP_##collective][static_cast<int32_t>(Algorithm::name)] = function;
  SPARKGAP_NODES_ALGORITHMS(SPARKGAP_ENTRY)
#undef SPARKGAP_ENTRY
  return table;
}

constexpr NodesTable kNodesTable = make_nodes_table();

}  // namespace

NodesAlgorithm* nodes_algorithm(int32_t collective, Algorithm algorithm) {
  return kNodesTable.of[collective][static_cast<int32_t>(algorithm)];
}

}  // namespace sparkgap
