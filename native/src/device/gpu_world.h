// What makes a world one of GPUs: libsparkgap.so's end of device.h.
//
// The world itself stays what it is on the host: its control segment carries the bootstrap, the call board, liveness
// and the abort word. This class exchanges through it what the providers need, decides with all PEs alike whether a
// step has succeeded, does all waiting for the GPU, and turns what went wrong there into the world's errors.
//
// Calls are enqueued and return, so an error may belong to an earlier call than the one that returns it. An error in
// the middle of a call aborts the world, since the other PEs are in that call, too; only what is refused beforehand
// (INVALID_ARGUMENT) does not.
#ifndef SPARKGAP_DEVICE_GPU_WORLD_H
#define SPARKGAP_DEVICE_GPU_WORLD_H

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "device/device.h"
#include "device/watcher.h"
#include "protocol/control.h"
#include "protocol/steps.h"
#include "protocol/wait.h"
#include "provider/provider.h"

namespace sparkgap {

class GpuWorld {
 public:
  // Loads the GPU library and makes this PE's half; throws what is missing. `options` outlives the object.
  explicit GpuWorld(const WorldOptions& options);
  ~GpuWorld();
  GpuWorld(const GpuWorld&) = delete;
  GpuWorld& operator=(const GpuWorld&) = delete;

  // Ends this PE's half, once: waits for what is enqueued and for the other PEs to come here, both with a limit. False
  // if a kernel may still use memory of other PEs, which must then not take this PE for gone. The destructor does it,
  // too.
  bool leave();

  // Collective, once the PEs have met on the host.
  void connect(const Control& control, Steps& steps, Waiter& waiter);

  // See Circumstances::lanes; after connect.
  int32_t lanes() const { return device_->lanes(); }
  // The same on all PEs; after connect.
  const Links& links() const { return links_; }

  // Collective.
  std::unique_ptr<SymmetricMemory> allocate(uint64_t bytes);

  void collective(kernels::KernelCall& call);
  void copy(void* to, const void* from, uint64_t bytes);
  void signal(int64_t* word, int64_t value, int32_t signal_op);
  void wait_signal(const int64_t* word, int32_t comparison, int64_t value, int64_t* observed);
  void fetch_add(int64_t* word, int64_t delta, int64_t* before);

  // All that is enqueued, or all before the event.
  void wait();
  void wait(DeviceEvent& event);

  void* stream() const { return device_->stream(); }
  void set_stream(void* stream) { check(device_->set_stream(stream, &failure_)); }
  DeviceEvent* make_event();
  void record(DeviceEvent& event) { check(device_->record(event, &failure_)); }
  void enqueue_wait(DeviceEvent& event) { check(device_->wait(event, &failure_)); }
  double elapsed_us(DeviceEvent& start, DeviceEvent& end);

  // The world has been aborted: throws DEVICE_FAILED if this process is the reason, and can do nothing any more.
  void check_device() const;

  void describe(Text& text) const;

 private:
  friend class GpuMemory;

  void exchange_cards();
  void check_cards() const;
  void start_provider();
  void verify_puts();
  void find_links();
  void agree(sparkgap_status status, const char* what);
  std::unique_ptr<DeviceMemory> allocate_together(uint64_t bytes);
  void free_retired_together();
  void retire(std::unique_ptr<DeviceMemory> memory);
  bool wait_until_done_here();
  bool wait_for_others_to_leave(bool* lost);

  void check(sparkgap_status status) {
    if (__builtin_expect(status != SPARKGAP_OK, 0)) fail_call(status);
  }
  [[noreturn]] void fail_call(sparkgap_status status);
  template <class Poll>
  void wait_until_done(const Poll& poll);
  void look_around(int64_t waited_us);
  void look_at_kernels(Waiter& waiter);
  [[noreturn]] void give_up(const Failure& failure);

  const WorldOptions& options_;
  DeviceWorld* device_ = nullptr;
  Control control_;
  Steps* steps_ = nullptr;
  Waiter* waiter_ = nullptr;
  std::optional<Watcher> watcher_;
  std::vector<DeviceCard> cards_;
  Links links_;
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

#endif  // SPARKGAP_DEVICE_GPU_WORLD_H
