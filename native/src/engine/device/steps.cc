// Steps of a GPU world: the stream is captured while the calls are recorded, and what was captured is launched as one.
#include <utility>

#include "engine/device/device_engine.h"

namespace sparkgap {

class DeviceEngine::Step final : public Recorded {
 public:
  Step(DeviceEngine& engine, DeviceStep* step, std::vector<PlacedCall> calls)
      : engine_(engine), step_(step), calls_(std::move(calls)) {}
  void compare() override {
    const uint64_t number = engine_.node_->control().call_line(engine_.node_->pe()).begun;
    PlacedCall& placed = engine_.placed_calls_[number % kPlacedCalls];
    placed = calls_[shown_++];
    placed.call = number;
    engine_.compare_between_nodes();
  }
  void launch() override {
    shown_ = 0;
    engine_.check(engine_.device_->launch(*step_, &engine_.failure_));
  }

 private:
  DeviceEngine& engine_;
  std::unique_ptr<DeviceStep> step_;
  const std::vector<PlacedCall> calls_;  // collectives that are not empty
  size_t shown_ = 0;                     // of these, in this run
};

void DeviceEngine::begin_recording() {
  const sparkgap_status status = device_->begin_step(&failure_);
  if (status != SPARKGAP_OK) refuse_recording(status);
  recorded_.clear();
  recording_ = true;
}

std::unique_ptr<Recorded> DeviceEngine::end_recording() {
  DeviceStep* step = nullptr;
  const sparkgap_status status = device_->end_step(&step, &failure_);
  recording_ = false;
  if (status != SPARKGAP_OK) refuse_recording(status);
  return std::make_unique<Step>(*this, step, std::move(recorded_));
}

void DeviceEngine::drop_recording() noexcept {
  if (recording_) device_->drop_step();
  recording_ = false;
}

// Nothing of what is recorded has been done, so that the other PEs have not to know.
void DeviceEngine::refuse_recording(sparkgap_status status) {
  if (status == SPARKGAP_DEVICE_FAILED) fail_call(status);
  failure_.status = SPARKGAP_INVALID_ARGUMENT;
  throw failure_;
}

}  // namespace sparkgap
