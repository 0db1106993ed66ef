#include "collective/host_algorithms.h"

namespace sparkgap {
namespace {

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

constexpr HostTable kHostTable = make_host_table();

}  // namespace

HostAlgorithm* host_algorithm(int32_t collective, Algorithm algorithm) {
  return kHostTable.of[collective][static_cast<int32_t>(algorithm)];
}

}  // namespace sparkgap
