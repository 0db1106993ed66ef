// Symmetric memory of GPUs: made by all PEs together, freed together once all have given it back.
#include <algorithm>
#include <utility>

#include "engine/device/device_engine.h"
#include "protocol/agreement.h"

namespace sparkgap {

// When a buffer goes, its memory is put aside until all PEs have freed theirs.
class DeviceEngine::Memory final : public SymmetricMemory {
 public:
  Memory(DeviceEngine& engine, std::unique_ptr<DeviceMemory> memory) : engine_(engine), memory_(std::move(memory)) {}
  ~Memory() override {
    if (engine_.device_ != nullptr) engine_.device_->end_resident();
    engine_.retired_.push_back(std::move(memory_));
    ++engine_.retirements_;
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  uint8_t* part(int32_t pe) const override {
    const int32_t near = engine_.node_->local_pe(pe);
    return near == kNoPe ? nullptr : memory_->part(near);
  }

 private:
  DeviceEngine& engine_;
  std::unique_ptr<DeviceMemory> memory_;
};

std::unique_ptr<SymmetricMemory> DeviceEngine::allocate(uint64_t bytes) {
  free_retired_together();
  return std::make_unique<Memory>(*this, allocate_together(bytes));
}

std::unique_ptr<DeviceMemory> DeviceEngine::allocate_together(uint64_t bytes) {
  // Before the providers are in it together, where one without memory would leave the others waiting.
  agree(device_->check_room(bytes, &failure_), "allocating memory of");
  DeviceOffer mine = {};
  DeviceMemory* made = nullptr;
  const sparkgap_status status = device_->allocate(bytes, &made, &mine, &failure_);
  std::unique_ptr<DeviceMemory> memory(made);
  agree(status, "allocating memory of");
  // Memory of other nodes is out of reach.
  const std::vector<DeviceOffer> offers = exchange(*node_, mine);
  agree(memory->attach(offers.data(), &failure_), "reaching the GPU memory of the other PEs with");
  return memory;
}

void DeviceEngine::free_retired_together() {
  const std::vector<uint64_t> all = exchange_all(retirements_);
  const uint64_t common = *std::min_element(all.begin(), all.end());
  if (common == freed_) return;
  // A kernel of this PE may still use what it has freed; once all PEs have waited, none does.
  synchronize();
  meet_all();
  std::vector<std::unique_ptr<DeviceMemory>> detached;
  for (; freed_ < common; ++freed_) {
    std::unique_ptr<DeviceMemory> memory = std::move(retired_.front());
    retired_.erase(retired_.begin());
    if (memory == nullptr) continue;
    check(memory->free_together(&failure_));
    memory->detach();
    detached.push_back(std::move(memory));
  }
  // Memory that another process has mapped must not be freed before that one has let go of it.
  meet_all();
}

}  // namespace sparkgap
