// The engine of worlds on several nodes: shared memory inside each, as engine/host has it, and channels over the wire
// to the PEs of the others.
//
// A symmetric buffer is memory of its node, and its own PE exposes it on the wire. What another node's PE puts or gets
// goes straight there; its signals and additions are carried out by this side as they arrive.
#ifndef SPARKGAP_ENGINE_NODES_NODES_ENGINE_H
#define SPARKGAP_ENGINE_NODES_NODES_ENGINE_H

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "collective/host_nodes.h"
#include "engine/engine.h"
#include "engine/host/host_engine.h"
#include "protocol/nodes/nodes.h"

namespace sparkgap {

class NodesEngine final : public Engine, private RequestHandler {
 public:
  explicit NodesEngine(const WorldOptions& options);
  ~NodesEngine() override;

  void write_card(uint8_t* card, const uint8_t* node_id) const override;
  const uint8_t* take_cards(const uint8_t* cards) override;
  void connect(Node& node, Circumstances* circumstances) override;
  bool leave() override;

  Algorithm collective(const CollectiveCall& call) override;
  void put(const SymmetricMemory& dst, uint64_t offset, const void* src, uint64_t bytes, int32_t pe) override;
  void get(void* dst, const SymmetricMemory& src, uint64_t offset, uint64_t bytes, int32_t pe) override;
  void signal(const SymmetricMemory& memory, uint64_t offset, int64_t value, int32_t signal_op, int32_t pe) override;
  void wait_signal(const SymmetricMemory& memory, uint64_t offset, int32_t comparison, int64_t value,
                   int64_t* observed) override;
  void fetch_add(const SymmetricMemory& memory, uint64_t offset, int64_t delta, int32_t pe, int64_t* before) override;
  void synchronize() override {}
  Streams* streams() override { return nullptr; }

  std::unique_ptr<SymmetricMemory> allocate(uint64_t bytes) override;
  bool memory_is_device() const override { return false; }

  int32_t link(int32_t a, int32_t b) const override;
  int32_t node_of(int32_t pe) const override { return map_.node_of(pe); }
  void check_process() const override {}
  void describe(Text& text) const override;

 private:
  class Memory;
  // Memory that this PE has given back, until every PE of another node has, too: what they still send must find it.
  struct Retired {
    uint64_t order;  // the how manyth that was given back
    uint64_t number;
    WireMemory exposed;
    std::unique_ptr<SymmetricMemory> memory;
  };
  struct Part {
    uint8_t* address;
    uint64_t bytes;
  };

  bool carry_out(const Request& request, int64_t* before) override;
  void on_freed(int32_t peer) override { freed_[peer].fetch_add(1, std::memory_order_release); }
  void retire(uint64_t number, const WireMemory& exposed, std::unique_ptr<SymmetricMemory> memory);
  void reap();
  const Memory& memory_of(const SymmetricMemory& memory) const;
  void for_each_piece(int32_t pe, uint64_t bytes, bool (*attempt)(void* context, uint64_t first, uint64_t bytes),
                      void* context);

  const WorldOptions& options_;
  HostEngine near_;
  Nodes nodes_;
  Channels& channels_;
  const NodeMap& map_;
  std::optional<HostNode> near_node_;
  std::optional<HostNodes> host_nodes_;

  uint64_t allocations_ = 0;
  uint64_t frees_ = 0;
  std::deque<Retired> retired_;
  std::unique_ptr<std::atomic<uint64_t>[]> freed_;  // by each PE
  std::mutex parts_mutex_;
  std::map<uint64_t, Part> parts_;  // of all allocations that requests may name
};

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_NODES_NODES_ENGINE_H
