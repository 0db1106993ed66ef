// allReduce between nodes by rails (collective/rails.cc), the result for all.
#include "collective/rails.h"

namespace sparkgap {

void all_reduce_rails(HostNodes& nodes, const CollectiveCall& call) { reduce_by_rails(nodes, call, kNoPe); }

}  // namespace sparkgap
