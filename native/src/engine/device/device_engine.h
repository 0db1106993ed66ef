// The engine of worlds of GPUs: libsparkgap.so's end of device.h.
//
// The control segment of the node carries the bootstrap, the call board, liveness and the abort word, as on the host.
// This class exchanges through it what the providers need, decides with all PEs alike whether a step has succeeded,
// does all waiting for the GPU, and turns what went wrong there into the world's errors.
//
// Calls are enqueued and return, so an error may belong to an earlier call than the one that returns it. An error in
// the middle of a call aborts the world, since the other PEs are in that call, too; only what is refused beforehand
// (INVALID_ARGUMENT) does not.
//
// By what they do: bootstrap.cc, memory.cc, calls.cc, failure.cc, leave.cc.
#ifndef SPARKGAP_ENGINE_DEVICE_DEVICE_ENGINE_H
#define SPARKGAP_ENGINE_DEVICE_DEVICE_ENGINE_H

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/device/device.h"
#include "engine/device/links.h"
#include "engine/device/watcher.h"
#include "engine/engine.h"

namespace sparkgap {

class DeviceEngine final : public Engine, private Streams {
 public:
  // Loads the GPU library and makes this PE's half; throws what is missing. `options` outlives the object.
  explicit DeviceEngine(const WorldOptions& options);
  ~DeviceEngine() override;
  DeviceEngine(const DeviceEngine&) = delete;
  DeviceEngine& operator=(const DeviceEngine&) = delete;

  void connect(Node& node, Circumstances* circumstances) override;
  // Waits for what is enqueued and for the other PEs to come here, both with a limit. False if a kernel may still use
  // memory of other PEs. The destructor does it, too.
  bool leave() override;

  Algorithm collective(const CollectiveCall& call) override;
  void put(const SymmetricMemory& dst, uint64_t offset, const void* src, uint64_t bytes, int32_t pe) override;
  void get(void* dst, const SymmetricMemory& src, uint64_t offset, uint64_t bytes, int32_t pe) override;
  void signal(const SymmetricMemory& memory, uint64_t offset, int64_t value, int32_t signal_op, int32_t pe) override;
  void wait_signal(const SymmetricMemory& memory, uint64_t offset, int32_t comparison, int64_t value,
                   int64_t* observed) override;
  void fetch_add(const SymmetricMemory& memory, uint64_t offset, int64_t delta, int32_t pe, int64_t* before) override;
  void synchronize() override;
  Streams* streams() override { return this; }

  std::unique_ptr<SymmetricMemory> allocate(uint64_t bytes) override;
  bool memory_is_device() const override { return true; }

  int32_t link(int32_t a, int32_t b) const override { return links_.between(a, b); }
  void check_process() const override;
  void describe(Text& text) const override;

 private:
  class Memory;

  void* stream() const override { return device_->stream(); }
  void set_stream(void* stream) override { check(device_->set_stream(stream, &failure_)); }
  Event* make_event() override;
  void record(Event& event) override { check(device_->record(event, &failure_)); }
  void enqueue_wait(Event& event) override { check(device_->wait(event, &failure_)); }
  void wait(Event& event) override;
  double elapsed_us(Event& start, Event& end) override;

  std::vector<DeviceCard> exchange_cards();
  void check_cards(const std::vector<DeviceCard>& cards) const;
  void start_provider(const std::vector<DeviceCard>& cards);
  void verify_puts(const std::vector<DeviceCard>& cards);
  void agree(sparkgap_status status, const char* what);
  std::unique_ptr<DeviceMemory> allocate_together(uint64_t bytes);
  void free_retired_together();
  bool wait_until_done_here();
  void tell(uint32_t state);
  bool wait_for_others(uint32_t state, bool* lost);
  void check_atomics(int32_t pe) const;

  void copy(void* to, const void* from, uint64_t bytes);
  void check(sparkgap_status status) {
    if (__builtin_expect(status != SPARKGAP_OK, 0)) fail_call(status);
  }
  [[noreturn]] void fail_call(sparkgap_status status);
  template <class Poll>
  void wait_until_done(const Poll& poll);
  void look_around(int64_t waited_us);
  void look_at_kernels(Waiter& waiter);

  // How long one look at the GPU may take before this PE looks at its peers.
  static constexpr int64_t kPollUs = 10000;

  const WorldOptions& options_;
  DeviceWorld* device_ = nullptr;
  Node* node_ = nullptr;
  std::optional<Watcher> watcher_;
  Links links_;
  bool lacks_atomics_[kernels::kMaxPes] = {};  // see LinkRow
  std::unique_ptr<DeviceMemory> scratch_;
  // Freed by this PE but perhaps not yet by others. A PE that frees does not wait, so the memory goes with the next
  // allocation, where all PEs tell how many they have freed.
  std::vector<std::unique_ptr<DeviceMemory>> retired_;
  uint64_t retirements_ = 0;
  uint64_t freed_ = 0;
  bool started_ = false;      // on this PE
  bool all_started_ = false;  // on every PE
  Failure failure_;           // of the call in hand
  Failure device_failure_;    // why this process can use its GPU no more
};

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_DEVICE_DEVICE_ENGINE_H
