// allReduce, one-shot with packets: for messages of at most kMaxPacketDataBytes.
//
//   in --56 bytes a line--> own packets | the others' packets, as they arrive --> scratch | all --reduce--> out
//
// One step. Data and flag cross in one cache line, so the time is one transfer between cores and the copies. Any
// memory, in place or not.
#include "collective/packets.h"

#include "collective/host_algorithms.h"

namespace sparkgap {

bool all_reduce_packets(HostNode& node, const CollectiveCall& call) {
  const uint64_t bytes = given_bytes(call);
  Steps& steps = node.steps();
  const int32_t own = node.pe();
  const void* inputs[SPARKGAP_MAX_PES];
  steps.begin();
  send_packets(steps, own, call.in, bytes);
  steps.post();
  for (int32_t i = 1; i < node.pes(); ++i) {
    const int32_t peer = node.neighbour(i);
    receive_packets(steps, peer, node.scratch(peer), bytes);
    inputs[peer] = node.scratch(peer);
  }
  steps.saw_all();
  inputs[own] = call.in;
  reduce_of(call)(call.out, inputs, node.pes(), call.count);
  return true;
}

}  // namespace sparkgap
