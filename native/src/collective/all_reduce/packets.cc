#include "collective/all_reduce/packets.h"

#include "collective/packets.h"

namespace sparkgap {

void all_reduce_packets(World& world, const void* in, void* out, uint64_t count, uint64_t element_bytes,
                        ReduceFunction reduce) {
  Steps& steps = world.steps();
  const int32_t own = world.pe();
  const uint64_t bytes = count * element_bytes;
  const void* inputs[SPARKGAP_MAX_PES];
  steps.begin();
  send_packets(steps, own, in, bytes);
  steps.post();
  for (int32_t i = 1; i < world.pes(); ++i) {
    const int32_t peer = world.neighbour(i);
    receive_packets(steps, peer, world.scratch(peer), bytes);
    inputs[peer] = world.scratch(peer);
  }
  steps.saw_all();
  inputs[own] = in;
  reduce(out, inputs, world.pes(), count);
}

}  // namespace sparkgap
