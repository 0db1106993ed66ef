// The engine of worlds whose PEs are on one host: all memory is shared memory, and a call is done when it returns.
#ifndef SPARKGAP_ENGINE_HOST_HOST_ENGINE_H
#define SPARKGAP_ENGINE_HOST_HOST_ENGINE_H

#include <optional>

#include "collective/host_node.h"
#include "engine/engine.h"

namespace sparkgap {

class HostEngine final : public Engine {
 public:
  explicit HostEngine(const WorldOptions& options) : options_(options) {}

  void connect(Node& node, Circumstances* circumstances) override;
  void use(const Routes& routes) override { routes_ = &routes; }
  bool leave() override { return true; }

  Algorithm collective(const CollectiveCall& call) override;
  void rows(const RowsCall& call) override;
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

  int32_t link(int32_t, int32_t) const override { return SPARKGAP_LINK_SHM; }
  void check_process() const override {}
  void describe(Text& text) const override;

 private:
  class Memory;

  const WorldOptions& options_;
  const Routes* routes_ = nullptr;
  std::optional<HostNode> node_;
};

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_HOST_HOST_ENGINE_H
