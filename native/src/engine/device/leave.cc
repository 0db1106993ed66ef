// The end of a GPU world, which all its PEs have to come to.
#include <time.h>

#include "base/clock.h"
#include "engine/device/device_engine.h"
#include "protocol/abort.h"

namespace sparkgap {

DeviceEngine::~DeviceEngine() { leave(); }

bool DeviceEngine::leave() {
  if (device_ == nullptr) return true;
  // Kernels of this PE use the memory of others, so it says that it has left only once they are done.
  const bool left = !started_ || wait_until_done_here();
  bool unused = left;
  bool lost = false;
  if (left && node_ != nullptr) {
    store_release(&node_->control().record(options_.pe).state, kLeft);
    wake_sleepers(node_->control().header());
  }
  if (started_) unused = unused && wait_for_others_to_leave(&lost);
  watcher_.reset();
  if (unused) {
    retired_.clear();
    scratch_.reset();
  } else {
    // A kernel of some PE may still use this memory. It stays, with what belongs to it, until the process ends.
    for (std::unique_ptr<DeviceMemory>& memory : retired_) static_cast<void>(memory.release());
    static_cast<void>(scratch_.release());
  }
  char reason[1024];
  Text(reason, sizeof reason)
      .add("the world of epoch %llu in this process %s", static_cast<unsigned long long>(options_.epoch),
           lost ? "lost a PE" : "ended without all of its PEs");
  device_->stop(unused && all_started_ && !lost, reason);
  if (unused) {
    delete device_;
  } else {
    device_->abandon(reason);
  }
  device_ = nullptr;
  return left;
}

bool DeviceEngine::wait_until_done_here() {
  const int64_t deadline = now_us() + options_.peer_timeout_ms * 1000;
  sparkgap_status status;
  do {
    status = device_->poll(kPollUs, &failure_);
  } while (status == SPARKGAP_TIMED_OUT && now_us() < deadline);
  return status == SPARKGAP_OK;
}

// True once every other PE has left or its process has ended; false if one does not come in time.
bool DeviceEngine::wait_for_others_to_leave(bool* lost) {
  const int64_t deadline = now_us() + options_.peer_timeout_ms * 1000;
  for (;;) {
    bool all = true;
    for (int32_t pe = 0; pe < options_.pes; ++pe) {
      if (load_acquire(&node_->control().record(pe).state) == kLeft) continue;
      if (node_->waiter().has_ended(pe)) {
        *lost = true;
      } else {
        all = false;
      }
    }
    if (all) return true;
    if (now_us() >= deadline) return false;
    const timespec pause = {0, 200000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace sparkgap
