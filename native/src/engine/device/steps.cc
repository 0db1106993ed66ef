// Steps of a GPU world: the stream is captured while the calls are recorded, and what was captured is launched as one.
#include "engine/device/device_engine.h"

namespace sparkgap {

class DeviceEngine::Step final : public Recorded {
 public:
  Step(DeviceEngine& engine, DeviceStep* step) : engine_(engine), step_(step) {}
  void compare() override { engine_.compare_between_nodes(); }
  void launch() override { engine_.check(engine_.device_->launch(*step_, &engine_.failure_)); }

 private:
  DeviceEngine& engine_;
  std::unique_ptr<DeviceStep> step_;
};

void DeviceEngine::begin_recording() {
  const sparkgap_status status = device_->begin_step(&failure_);
  if (status != SPARKGAP_OK) refuse_recording(status);
  recording_ = true;
}

std::unique_ptr<Recorded> DeviceEngine::end_recording() {
  DeviceStep* step = nullptr;
  const sparkgap_status status = device_->end_step(&step, &failure_);
  recording_ = false;
  if (status != SPARKGAP_OK) refuse_recording(status);
  return std::make_unique<Step>(*this, step);
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
