// How an engine records the calls of a step: what an engine has besides whose calls can be enqueued all at once. The
// steps of others are kept by the world alone, which makes their calls one after the other (world/step.h).
#ifndef SPARKGAP_ENGINE_RECORDER_H
#define SPARKGAP_ENGINE_RECORDER_H

#include <cstdint>
#include <memory>

namespace sparkgap {

// What was recorded. It goes before the engine does.
class Recorded {
 public:
  virtual ~Recorded() = default;
  // For each collective that is not empty, in their order, while the world shows it: compares it with what the other
  // PEs make, as far as the engine does that for the call by itself.
  virtual void compare() = 0;
  // Enqueues all of it, on the stream that is in use now.
  virtual void launch() = 0;
};

// Between begin_recording and one of the two ends, calls that come to the engine are recorded and not made. Whatever
// cannot be recorded throws INVALID_ARGUMENT; nothing that goes wrong here ends the world, but for a failed GPU.
class Recorder {
 public:
  virtual void begin_recording() = 0;
  // The next that comes is call `call` of step `step`, both from 1: for what goes wrong when it is made.
  virtual void record_next(int32_t step, int32_t call) = 0;
  virtual std::unique_ptr<Recorded> end_recording() = 0;
  // Forgets what was recorded. After an end_recording that threw, too.
  virtual void drop_recording() noexcept = 0;

 protected:
  ~Recorder() = default;
};

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_RECORDER_H
