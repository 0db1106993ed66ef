// reduce between nodes by rails (collective/rails.cc), the result for the root: only its node is sent to.
#include "collective/rails.h"

namespace sparkgap {

void reduce_rails(HostNodes& nodes, const CollectiveCall& call) { reduce_by_rails(nodes, call, call.root); }

}  // namespace sparkgap
