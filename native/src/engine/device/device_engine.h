// The engine of worlds of GPUs: libsparkgap.so's end of device.h.
//
// The control segment of the node carries the bootstrap, the call board, liveness and the abort word, as on the host;
// between nodes channels over the wire do, as in worlds of host memory (protocol/nodes). This class exchanges through
// them what the providers need, decides with all PEs alike whether a step has succeeded, does all waiting for the GPU,
// and turns what went wrong there into the world's errors. No data of collectives goes over the wire: that is the
// provider's.
//
// Calls are enqueued and return, so an error may belong to an earlier call than the one that returns it. An error in
// the middle of a call aborts the world, since the other PEs are in that call, too; only what is refused beforehand
// (INVALID_ARGUMENT) does not.
//
// By what they do: bootstrap.cc, memory.cc, calls.cc, steps.cc, failure.cc, leave.cc.
#ifndef SPARKGAP_ENGINE_DEVICE_DEVICE_ENGINE_H
#define SPARKGAP_ENGINE_DEVICE_DEVICE_ENGINE_H

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/beside.h"
#include "engine/device/device.h"
#include "engine/device/links.h"
#include "engine/device/watcher.h"
#include "engine/engine.h"
#include "protocol/nodes/nodes.h"
#include "wire/address.h"

namespace sparkgap {

class DeviceEngine final : public Engine, private Streams, private Recorder, private RequestHandler {
 public:
  // Loads the GPU library and makes this PE's half; throws what is missing. `options` outlives the object.
  explicit DeviceEngine(const WorldOptions& options);
  ~DeviceEngine() override;
  DeviceEngine(const DeviceEngine&) = delete;
  DeviceEngine& operator=(const DeviceEngine&) = delete;

  void write_card(uint8_t* card, const uint8_t* node_id) const override;
  const uint8_t* take_cards(const uint8_t* cards) override;
  void connect(Node& node, Circumstances* circumstances) override;
  void use(const Routes& routes) override { device_->use(routes); }
  void open_beside() override;
  bool await_beside() override;
  // Waits for what is enqueued and for the other PEs to come here, both with a limit. False if a kernel may still use
  // memory of other PEs. The destructor does it, too.
  bool leave() override;

  Algorithm collective(const CollectiveCall& call) override;
  void rows(const RowsCall& call) override;
  void put(const SymmetricMemory& dst, uint64_t offset, const void* src, uint64_t bytes, int32_t pe) override;
  void get(void* dst, const SymmetricMemory& src, uint64_t offset, uint64_t bytes, int32_t pe) override;
  void signal(const SymmetricMemory& memory, uint64_t offset, int64_t value, int32_t signal_op, int32_t pe) override;
  void wait_signal(const SymmetricMemory& memory, uint64_t offset, int32_t comparison, int64_t value,
                   int64_t* observed) override;
  void fetch_add(const SymmetricMemory& memory, uint64_t offset, int64_t delta, int32_t pe, int64_t* before) override;
  void synchronize() override;
  Streams* streams() override { return this; }
  Recorder* recorder() override { return this; }

  std::unique_ptr<SymmetricMemory> allocate(uint64_t bytes) override;
  bool memory_is_device() const override { return true; }
  const sparkgap_device_world& device_world() const override;

  int32_t node_of(int32_t pe) const override { return nodes_ == nullptr ? 0 : nodes_->map().node_of(pe); }
  int32_t link(int32_t a, int32_t b) const override;
  void check_process() const override;
  void describe(Text& text) const override;

 private:
  class Memory;
  class Step;

  void* stream() const override { return device_->stream(); }
  void set_stream(void* stream) override { check(device_->set_stream(stream, &failure_)); }
  Event* make_event() override;
  void record(Event& event) override { check(device_->record(event, &failure_)); }
  void enqueue_wait(Event& event) override { check(device_->wait(event, &failure_)); }
  void wait(Event& event) override;
  double elapsed_us(Event& start, Event& end) override;

  void begin_recording() override;
  void record_next(int32_t step, int32_t call) override {
    recorded_place_ = {step, call};
    device_->set_place(recorded_place_);
  }
  std::unique_ptr<Recorded> end_recording() override;
  void drop_recording() noexcept override;

  // Nothing of a GPU world is signalled over the wire.
  bool carry_out(const Request&, int64_t*) override { return false; }
  void on_freed(int32_t) override {}

  // Among all PEs of the world, in PE order.
  template <class Item>
  std::vector<Item> exchange_all(const Item& mine) {
    return nodes_ == nullptr ? exchange(*node_, mine) : nodes_->exchange(mine);
  }
  // Those of this node.
  template <class Item>
  const Item* near(const std::vector<Item>& all) const {
    return all.data() + options_.node_first_pe;
  }
  void meet_all();

  std::vector<DeviceCard> exchange_cards();
  void find_links(const std::vector<DeviceCard>& cards);
  void check_cards(const std::vector<DeviceCard>& cards) const;
  void start_provider(const std::vector<DeviceCard>& cards);
  void verify_puts(const DeviceCard* cards);
  void agree(sparkgap_status status, const char* what);
  std::unique_ptr<DeviceMemory> allocate_together(uint64_t bytes);
  void free_retired_together();
  bool wait_until_done_here();
  void tell(uint32_t state);
  bool wait_for_others(uint32_t state, bool* lost);
  bool is_anybody_missing(uint32_t state, bool* lost);
  uint8_t* address_in(const SymmetricMemory& memory, int32_t pe, uint64_t offset) const;
  int64_t* word_in(const SymmetricMemory& memory, int32_t pe, uint64_t offset) const;
  void check_atomics(int32_t pe) const;
  void compare_between_nodes();

  void copy(void* to, const void* from, uint64_t bytes);
  void check(sparkgap_status status) {
    if (__builtin_expect(status != SPARKGAP_OK, 0)) fail_call(status);
  }
  [[noreturn]] void fail_call(sparkgap_status status);
  [[noreturn]] void give_up(const Failure& failure);
  [[noreturn]] void refuse_recording(sparkgap_status status);
  template <class Poll>
  void wait_until_done(const Poll& poll);
  void look_around(int64_t waited_us);
  void look_at_kernels(Waiter& waiter);
  void look_at_provider(Waiter& waiter);
  void look_for_cause();
  [[noreturn]] void give_up_late(int64_t waited_us);
  void describe_rows(Text& text, kernels::WaitEnd end, const kernels::WaitRecord& record) const;
  bool find_behind(int32_t* pe, uint64_t* call);
  void describe_late_call(Text& text, uint64_t call) const;

  // How long one look at the GPU may take before this PE looks at its peers.
  static constexpr int64_t kPollUs = 10000;
  // How often a PE that waits compares its calls with those of other nodes.
  static constexpr int64_t kComparisonUs = 1000000;
  // A call of a step, while its number may be asked for.
  struct PlacedCall {
    uint64_t call;
    int32_t collective;  // or another operation
    kernels::StepPlace place;
  };
  static constexpr uint64_t kPlacedCalls = 64;
  // How long the reason of a failure of the provider's is looked for.
  static constexpr int64_t kCauseUs = 500000;

  const WorldOptions& options_;
  std::unique_ptr<Nodes> nodes_;  // where the world has several
  OwnInterface interface_;        // of the libraries' sockets
  std::string host_id_;
  DeviceWorld* device_ = nullptr;
  Node* node_ = nullptr;
  std::optional<Watcher> watcher_;
  std::unique_ptr<Beside> beside_;  // NCCL, once it is wanted
  std::vector<Links> links_;        // in each node
  int32_t link_between_nodes_ = SPARKGAP_LINK_TCP;
  bool lacks_atomics_[kernels::kMaxPes] = {};  // see LinkRow
  std::unique_ptr<DeviceMemory> scratch_;
  // Freed by this PE but perhaps not yet by others. A PE that frees does not wait, so the memory goes with the next
  // allocation, where all PEs tell how many they have freed.
  std::vector<std::unique_ptr<DeviceMemory>> retired_;
  uint64_t retirements_ = 0;
  uint64_t freed_ = 0;
  bool uses_provider_ = false;  // for some collective
  int64_t next_comparison_us_ = 0;
  bool started_ = false;                        // on this PE
  bool all_started_ = false;                    // on every PE
  bool recording_ = false;                      // a step
  kernels::StepPlace recorded_place_ = {};      // of the call that comes next
  std::vector<PlacedCall> recorded_;            // calls of the step that get a number
  PlacedCall placed_calls_[kPlacedCalls] = {};  // by the number of the call, of the steps that were launched last
  Failure failure_;                             // of the call in hand
  Failure device_failure_;                      // why this process can use its GPU no more
};

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_DEVICE_DEVICE_ENGINE_H
