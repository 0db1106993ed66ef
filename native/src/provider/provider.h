// What makes a world: the memory that its PEs share to meet in, and the knowledge whether they still exist.
//
// A provider belongs to one PE of one world. It throws Failure (error.h). Only the methods of Liveness are called while
// the PE waits; none is called from two threads at once.
#ifndef SPARKGAP_PROVIDER_PROVIDER_H
#define SPARKGAP_PROVIDER_PROVIDER_H

#include <cstdint>
#include <string>

#include "base/error.h"
#include "protocol/control.h"
#include "protocol/liveness.h"
#include "sparkgap/sparkgap.h"

namespace sparkgap {

// What a PE tells a provider about itself; sparkgap_world_options with owned strings.
struct WorldOptions {
  int32_t pe = 0;
  int32_t pes = 0;
  uint64_t epoch = 0;
  int64_t peer_timeout_ms = 0;
  bool check = false;
  std::string provider;
  std::string label;
  std::string host_directory;
  int32_t device = -1;
  bool device_shared = false;
  std::string nvshmem_library;
  std::string nccl_library;
  int32_t kernel_max_blocks = 0;
  int32_t resident_idle_ms = 0;
  // Of a world on several nodes: which of its PEs share this one's, and the wire to the others. All PEs are on one node
  // where node_pes is pes.
  int32_t node_first_pe = 0;
  int32_t node_pes = 0;
  std::string wire;
  std::string wire_address;
  std::string wire_ports;
  std::string fabric_library;
  bool deterministic = false;
  uint64_t hints = 0;   // a digest of what the user says of the topology
  uint64_t tables = 0;  // a digest of the tuning tables that it was given

  // This PE's number in its node.
  int32_t near_pe() const { return pe - node_first_pe; }
};

// One allocation of the symmetric heap; gone when this is destroyed.
class SymmetricMemory {
 public:
  virtual ~SymmetricMemory() = default;
  // Where this process sees the part of PE `pe` of the world; nullptr if it cannot address it.
  virtual uint8_t* part(int32_t pe) const = 0;
};

class Provider : public Liveness {
 public:
  // PE 0, once, before write_id: makes the memory that the bootstrap needs.
  virtual void make_world() = 0;

  // PE 0: what the others need to find that memory, SPARKGAP_WORLD_ID_BYTES.
  virtual void write_id(uint8_t* id) const = 0;

  // Finds the world's memory and claims this PE's place in it. The view stays valid as long as the provider.
  virtual Control open_world(const uint8_t* id) = 0;

  // Every PE has opened the world and is connected: nobody has to find its memory any more.
  virtual void all_connected() = 0;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_PROVIDER_H
