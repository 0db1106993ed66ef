#include "engine/device/watcher.h"

#include <utility>

#include "protocol/abort.h"
#include "protocol/futex.h"

namespace sparkgap {

Watcher::Watcher(const Control& control, std::function<void(Waiter&)> look, std::function<void()> on_abort, int32_t pe,
                 const WaitOptions& options)
    : control_(control),
      peers_(control),
      waiter_(control, pe, &peers_, options),
      look_(std::move(look)),
      on_abort_(std::move(on_abort)),
      thread_([this] { run(); }) {}

Watcher::~Watcher() {
  stopping_.store(true);
  wake_all(control_.header());
  thread_.join();
}

void Watcher::run() {
  while (!stopping_.load() && !is_aborted(control_)) {
    sleep();
    try {
      look_(waiter_);
      for (int32_t peer = 0; peer < control_.pes(); ++peer) {
        waiter_.check_alive(peer, false);
        waiter_.compare_runs(peer);
      }
    } catch (const Failure&) {
      // Whoever threw has aborted the world, which is how its other PEs and this PE's owner learn of it.
    }
  }
  if (is_aborted(control_)) on_abort_();
}

void Watcher::sleep() {
  uint32_t* wake = &control_.header().wake;
  const uint32_t seen = __atomic_load_n(wake, __ATOMIC_SEQ_CST);
  if (stopping_.load() || is_aborted(control_)) return;
  futex_wait(wake, seen, kLookMs * 1000000);
}

}  // namespace sparkgap
