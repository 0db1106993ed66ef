#include "engine/engine.h"

namespace sparkgap {
namespace {

[[noreturn]] void refuse_nodes() {
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe,
       "a world whose PEs are on one node has an id (sparkgap_world_id) and no cards");
}

}  // namespace

void Engine::write_card(uint8_t*, const uint8_t*) const { refuse_nodes(); }

const uint8_t* Engine::take_cards(const uint8_t*) { refuse_nodes(); }

void Engine::rows(const RowsCall& call) {
  fail(
      SPARKGAP_UNAVAILABLE, kNoPe,
      "%s is there where every PE can address the memory of every other: on one host, and on GPUs of one host that are "
      "peers of each other (nvidia-smi topo -p2p w). Use allToAllv here",
      rows_operation_name(call.operation));
}

int32_t Engine::node_of(int32_t) const { return 0; }

const sparkgap_device_world& Engine::device_world() const {
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe,
       "kernels exchange data in worlds of GPUs, and this one is in host memory: use provider nvshmem or nccl");
}

}  // namespace sparkgap
