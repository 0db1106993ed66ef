// A thread that looks after one PE's end of a GPU world while its owner does something else: kernels wait on the GPU,
// where no host code of ours runs, and the owner may wait for them by CUDA's own means.
//
// It ends NCCL's kernels once the world has been aborted, tells the other PEs when a kernel of this PE has given up a
// wait, and aborts the world when a peer's process has ended. It sleeps on the world's futex, so an abort wakes it at
// once; the rest is seen within kLookMs.
#ifndef SPARKGAP_ENGINE_DEVICE_WATCHER_H
#define SPARKGAP_ENGINE_DEVICE_WATCHER_H

#include <atomic>
#include <functional>
#include <thread>

#include "protocol/control.h"
#include "protocol/wait.h"
#include "provider/host/peer_process.h"

namespace sparkgap {

class Watcher {
 public:
  static constexpr int64_t kLookMs = 10;

  // `look` is called after each sleep, `on_abort` once when the world has been aborted; both on the watcher's thread.
  // They may throw Failure to say that they have aborted the world.
  Watcher(const Control& control, std::function<void(Waiter&)> look, std::function<void()> on_abort, int32_t pe,
          const WaitOptions& options);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  void run();
  void sleep();

  Control control_;
  PeerProcesses peers_;
  Waiter waiter_;
  std::function<void(Waiter&)> look_;
  std::function<void()> on_abort_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_DEVICE_WATCHER_H
