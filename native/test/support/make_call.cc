#include "support/make_call.h"

namespace sparkgap::test {

sparkgap_status make_call(sparkgap_world* world, const CollectiveCall& call) {
  switch (call.collective) {
    case SPARKGAP_ALL_REDUCE:
      return sparkgap_all_reduce(world, call.in, call.out, call.count, call.type, call.op);
    case SPARKGAP_REDUCE_SCATTER:
      return sparkgap_reduce_scatter(world, call.in, call.out, call.count, call.type, call.op);
    case SPARKGAP_ALL_GATHER:
      return sparkgap_all_gather(world, call.in, call.out, call.count, call.type);
    case SPARKGAP_BROADCAST:
      return sparkgap_broadcast(world, call.in, call.out, call.count, call.type, call.root);
    case SPARKGAP_REDUCE:
      return sparkgap_reduce(world, call.in, call.out, call.count, call.type, call.op, call.root);
    case SPARKGAP_ALL_TO_ALL:
      return sparkgap_all_to_all(world, call.in, call.out, call.count, call.type);
    case SPARKGAP_ALL_TO_ALLV:
      return sparkgap_all_to_allv(world, call.in, call.send_counts, call.send_offsets, call.out, call.receive_counts,
                                  call.receive_offsets, call.type);
    default:
      return sparkgap_barrier(world);
  }
}

}  // namespace sparkgap::test
