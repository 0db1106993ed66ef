// broadcast between three nodes and more by rails, scattered (collective/broadcast/rails.cc).
#include "collective/rails.h"

namespace sparkgap {

void broadcast_scattered_rails(HostNodes& nodes, const CollectiveCall& call) { broadcast_by_rails(nodes, call, true); }

}  // namespace sparkgap
