// NCCL beside NVSHMEM: another way for the collectives of a world of NVSHMEM, on the same stream and with the same
// errors.
//
// It is opened by a thread of each PE while the world's calls go on, so that connect need not wait for it. All PEs have
// it or none: each says in its record of the control segment how far it is (BesideRecord), and whether the world has it
// follows from all of these together, once and for all. A call that would go by it waits until that is known.
//
//   load  each PE finds the library         kBesideLoaded or kBesideNone
//         all PEs have the same version, and a GPU each
//   start NCCL joins the PEs                 kBesideReady or kBesideNone
//
// Where one PE has come to kBesideNone the world does without, and the others give up what they have started.
#ifndef SPARKGAP_ENGINE_DEVICE_BESIDE_H
#define SPARKGAP_ENGINE_DEVICE_BESIDE_H

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "engine/device/beside_library.h"
#include "protocol/control.h"

namespace sparkgap {

class Beside {
 public:
  enum class Outcome { kOpen, kThere, kNone };

  // `library` outlives the object. `timeout_ms`: for how long it waits for the other PEs to come so far.
  Beside(const Control& control, int32_t pe, BesideLibrary& library, int64_t timeout_ms);
  ~Beside() { end(); }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  // Ends the thread. Where this PE has not come to its end of it, it has none. Again: nothing.
  void end();

  // Of all PEs together; kThere and kNone stay. Any thread.
  Outcome outcome() const;
  // Whether that PE has come to its end of it.
  bool is_done(int32_t pe) const;
  // ", NCCL 2.28.9 (/usr/lib/libnccl.so.2) beside it" or why there is none.
  void describe(Text& text) const;

 private:
  void run();
  void open();
  bool wait_until_all(uint32_t state) const;
  BesideRecord& record(int32_t pe) const { return control_.record(pe).beside; }
  void say(uint32_t state) const;
  void say_none(const char* why) const;

  const Control control_;
  const int32_t pe_;
  BesideLibrary& library_;
  const int64_t timeout_us_;
  std::mutex ready_mutex_;  // between saying that this PE is ready, and end()
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

// What follows from the records of all PEs, and if it is kNone why.
Beside::Outcome outcome_of(const Control& control, Text* why);

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_DEVICE_BESIDE_H
