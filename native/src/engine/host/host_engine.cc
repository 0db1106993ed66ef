#include "engine/host/host_engine.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "collective/host_algorithms.h"
#include "collective/host_rows.h"
#include "protocol/atomics.h"
#include "provider/host/host_memory.h"
#include "provider/host/identity.h"
#include "provider/host/segment.h"
#include "sparkgap/device/comparison.h"

namespace sparkgap {
namespace {

int64_t* word_at(const SymmetricMemory& memory, int32_t pe, uint64_t offset) {
  return reinterpret_cast<int64_t*>(memory.part(pe) + offset);
}

// Names what this PE waits for, for as long as it waits.
class Activity {
 public:
  Activity(Waiter& waiter, const char* name) : waiter_(waiter) { waiter_.set_activity(name); }
  ~Activity() { waiter_.set_activity(nullptr); }
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

 private:
  Waiter& waiter_;
};

}  // namespace

// Known to the algorithms while it lives.
class HostEngine::Memory final : public SymmetricMemory {
 public:
  Memory(HostNode& node, std::unique_ptr<SymmetricMemory> memory, uint64_t bytes)
      : node_(node), memory_(std::move(memory)) {
    node_.ranges().push_back({memory_.get(), bytes});
  }
  ~Memory() override {
    std::vector<HostRange>& ranges = node_.ranges();
    ranges.erase(std::find_if(ranges.begin(), ranges.end(),
                              [this](const HostRange& range) { return range.memory == memory_.get(); }));
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  uint8_t* part(int32_t pe) const override { return memory_->part(pe); }

 private:
  HostNode& node_;
  const std::unique_ptr<SymmetricMemory> memory_;
};

void HostEngine::connect(Node& node, Circumstances*) { node_.emplace(node); }

Algorithm HostEngine::collective(const CollectiveCall& call) {
  if (__builtin_expect(host_algorithm(call.collective, call.algorithm)(*node_, call), 1)) return call.algorithm;
  // An array is out of the others' reach.
  const Algorithm any = routes_->choose_for_any_memory(call.collective, given_bytes(call));
  host_algorithm(call.collective, any)(*node_, call);
  return any;
}

void HostEngine::rows(const RowsCall& call) {
  if (call.operation == SPARKGAP_COMBINE) {
    combine_direct(*node_, call);
  } else {
    dispatch_direct(*node_, call);
  }
}

void HostEngine::put(const SymmetricMemory& dst, uint64_t offset, const void* src, uint64_t bytes, int32_t pe) {
  // memmove: a PE may put within its own part.
  std::memmove(dst.part(pe) + offset, src, bytes);
}

void HostEngine::get(void* dst, const SymmetricMemory& src, uint64_t offset, uint64_t bytes, int32_t pe) {
  std::memmove(dst, src.part(pe) + offset, bytes);
}

void HostEngine::signal(const SymmetricMemory& memory, uint64_t offset, int64_t value, int32_t signal_op, int32_t pe) {
  int64_t* word = word_at(memory, pe, offset);
  if (signal_op == SPARKGAP_SIGNAL_SET) {
    store_release(word, value);
  } else {
    __atomic_fetch_add(word, value, __ATOMIC_RELEASE);
  }
  wake_sleepers(node_->node().control().header());
}

void HostEngine::wait_signal(const SymmetricMemory& memory, uint64_t offset, int32_t comparison, int64_t value,
                             int64_t* observed) {
  const int64_t* word = word_at(memory, options_.pe, offset);
  Waiter& waiter = node_->node().waiter();
  const Activity activity(waiter, "waitSignal");
  int64_t seen = 0;
  waiter.until(kNoPe, [&] {
    seen = load_acquire(word);
    return device::holds(seen, comparison, value);
  });
  if (observed != nullptr) *observed = seen;
}

void HostEngine::fetch_add(const SymmetricMemory& memory, uint64_t offset, int64_t delta, int32_t pe, int64_t* before) {
  const int64_t found = __atomic_fetch_add(word_at(memory, pe, offset), delta, __ATOMIC_ACQ_REL);
  if (before != nullptr) *before = found;
  wake_sleepers(node_->node().control().header());
}

std::unique_ptr<SymmetricMemory> HostEngine::allocate(uint64_t bytes) {
  return std::make_unique<Memory>(*node_, allocate_host_memory(options_, node_->node(), bytes), bytes);
}

void HostEngine::describe(Text& text) const {
  text.add("shared %s on %s", place(options_.host_directory).c_str(), host_name().c_str());
}

}  // namespace sparkgap
