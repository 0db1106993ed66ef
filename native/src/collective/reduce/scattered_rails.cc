// reduce between nodes by rails that share the work (collective/scattered_rails.cc), the result for the root.
#include "collective/rails.h"

namespace sparkgap {

void reduce_scattered_rails(HostNodes& nodes, const CollectiveCall& call) {
  reduce_by_scattered_rails(nodes, call, call.root);
}

}  // namespace sparkgap
