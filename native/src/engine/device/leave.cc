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
  const bool left = !started_ || (wait_until_done_here() && device_->end_resident());
  if (beside_ != nullptr) beside_->end();
  bool unused = left;
  bool lost = false;
  if (left) tell(kLeft);
  if (started_) unused = unused && wait_for_others(kLeft, &lost);
  watcher_.reset();
  if (unused && started_) {
    // Memory that another process has mapped must not be freed before that one has let go of it.
    for (const std::unique_ptr<DeviceMemory>& memory : retired_) {
      if (memory != nullptr) memory->detach();
    }
    if (scratch_ != nullptr) scratch_->detach();
    tell(kDetached);
    unused = wait_for_others(kDetached, &lost);
  }
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
  const bool together = unused && all_started_ && !lost;
  // All PEs have ended the thread that opens it, so they all come to the same.
  if (beside_ != nullptr) device_->stop_beside(together && beside_->outcome() == Beside::Outcome::kThere);
  device_->stop(together, reason);
  if (unused) {
    delete device_;
  } else {
    device_->abandon(reason);
  }
  device_ = nullptr;
  if (nodes_ != nullptr) nodes_->channels().leave();
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

void DeviceEngine::tell(uint32_t state) {
  if (node_ == nullptr) return;
  store_release(&node_->control().record(node_->pe()).state, state);
  wake_sleepers(node_->control().header());
  if (nodes_ != nullptr && state == kLeft) nodes_->channels().tell_ending();
}

// True once every other PE is in that state or its process has ended; false if one does not come in time.
bool DeviceEngine::wait_for_others(uint32_t state, bool* lost) {
  const int64_t deadline = now_us() + options_.peer_timeout_ms * 1000;
  while (is_anybody_missing(state, lost)) {
    if (now_us() >= deadline) return false;
    const timespec pause = {0, 200000};
    nanosleep(&pause, nullptr);
  }
  return true;
}

bool DeviceEngine::is_anybody_missing(uint32_t state, bool* lost) {
  bool missing = false;
  for (int32_t pe = 0; pe < node_->pes(); ++pe) {
    if (pe == node_->pe() || load_acquire(&node_->control().record(pe).state) >= state) continue;
    if (node_->waiter().has_ended(pe)) {
      *lost = true;
    } else {
      missing = true;
    }
  }
  // Nobody has mapped memory of another node.
  if (nodes_ == nullptr || state != kLeft) return missing;
  const Channels& channels = nodes_->channels();
  for (const int32_t pe : channels.peers()) {
    if (channels.has_told_ending(pe)) continue;
    missing |= channels.is_there(pe);
    *lost |= channels.is_lost(pe);
  }
  return missing;
}

}  // namespace sparkgap
