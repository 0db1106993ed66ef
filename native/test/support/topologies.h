// Worlds that are not here: what the selector would know of them.
#ifndef SPARKGAP_TEST_SUPPORT_TOPOLOGIES_H
#define SPARKGAP_TEST_SUPPORT_TOPOLOGIES_H

#include <cstdint>
#include <string>
#include <vector>

#include "collective/host_nodes.h"
#include "protocol/kernel_world.h"
#include "select/select.h"

namespace sparkgap::test {

struct SyntheticWorld {
  const char* name;
  Circumstances circumstances;
};

inline SyntheticWorld host_world(const char* name, int32_t pes, bool shared) {
  Circumstances world;
  world.pes = pes;
  world.oversubscribed = shared;
  return {name, world};
}

inline SyntheticWorld gpu_world(const char* name, int32_t pes, int32_t link) {
  Circumstances world;
  world.provider = ProviderKind::kNvshmem;
  world.pes = pes;
  world.lanes = kernels::kMaxLanes;
  world.slowest_link = link;
  world.pcie = link == SPARKGAP_LINK_PCIE;
  return {name, world};
}

// GPUs of several nodes, by NCCL; or PEs in host memory.
inline SyntheticWorld world_of_nodes(const char* name, ProviderKind provider, int32_t nodes, int32_t pes,
                                     int32_t link) {
  Circumstances world;
  world.provider = provider;
  world.nodes = nodes;
  world.pes = pes;
  world.slowest_link = link;
  world.one_trip_bytes = HostNodes::one_trip_bytes(pes, pes / nodes, Channels::message_bytes_for(pes));
  return {name, world};
}

inline std::vector<SyntheticWorld> synthetic_worlds() {
  constexpr ProviderKind kNodes = ProviderKind::kNodes;
  constexpr ProviderKind kNccl = ProviderKind::kNccl;
  return {host_world("2 PEs of a host", 2, false),
          host_world("4 PEs on 2 CPUs", 4, true),
          host_world("16 PEs of a host", 16, false),
          gpu_world("2 GPUs over NVLink", 2, SPARKGAP_LINK_NVLINK),
          gpu_world("8 GPUs over NVLink", 8, SPARKGAP_LINK_NVLINK),
          gpu_world("8 GPUs over PCI Express", 8, SPARKGAP_LINK_PCIE),
          world_of_nodes("2 x 8 GPUs over InfiniBand", kNccl, 2, 16, SPARKGAP_LINK_RDMA),
          world_of_nodes("4 x 8 GPUs, NVLink and TCP", kNccl, 4, 32, SPARKGAP_LINK_TCP),
          world_of_nodes("10,000 GPUs over InfiniBand", kNccl, 1250, 10000, SPARKGAP_LINK_RDMA),
          world_of_nodes("2 x 1 PEs over TCP", kNodes, 2, 2, SPARKGAP_LINK_TCP),
          world_of_nodes("3 x 4 PEs over TCP", kNodes, 3, 12, SPARKGAP_LINK_TCP),
          world_of_nodes("4 x 8 PEs over InfiniBand", kNodes, 4, 32, SPARKGAP_LINK_RDMA),
          world_of_nodes("100 x 100 PEs over TCP", kNodes, 100, 10000, SPARKGAP_LINK_TCP)};
}

// Which route an allReduce would take in each, and what it would take by the cost model: the table of
// docs/topologies.md, as Markdown.
std::string topologies_table();

// That page with this table in place of its own. Throws a Failure if it has none.
std::string with_topologies_table(const std::string& page);

}  // namespace sparkgap::test

#endif  // SPARKGAP_TEST_SUPPORT_TOPOLOGIES_H
