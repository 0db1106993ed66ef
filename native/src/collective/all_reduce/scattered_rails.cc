// allReduce between nodes by rails that share the work (collective/scattered_rails.cc), the result for all.
#include "collective/rails.h"

namespace sparkgap {

void all_reduce_scattered_rails(HostNodes& nodes, const CollectiveCall& call) {
  reduce_by_scattered_rails(nodes, call, kNoPe);
}

}  // namespace sparkgap
