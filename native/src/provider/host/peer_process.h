// What one process can learn of a peer's: whether it still runs, and what is in its memory.
#ifndef SPARKGAP_PROVIDER_HOST_PEER_PROCESS_H
#define SPARKGAP_PROVIDER_HOST_PEER_PROCESS_H

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "protocol/control.h"
#include "protocol/liveness.h"

namespace sparkgap {

// Holds a pidfd from the first question on, which no reuse of the PID can deceive; where the kernel has none
// (before 5.3) or forbids it, compares the start time of whatever runs under that PID.
class PeerProcess {
 public:
  PeerProcess(pid_t pid, uint64_t start_time) : pid_(pid), start_time_(start_time) {}
  PeerProcess(PeerProcess&& other) noexcept;
  ~PeerProcess();

  pid_t pid() const { return pid_; }
  bool has_ended();

 private:
  pid_t pid_;
  uint64_t start_time_;
  int pidfd_ = -1;
  bool tried_ = false;
};

// The processes of all PEs of a world, as their records named them when each was first asked for here: what is written
// into the shared records later is not followed. For one thread.
class PeerProcesses final : public Liveness {
 public:
  PeerProcesses() = default;
  explicit PeerProcesses(const Control& control) : control_(control), peers_(static_cast<size_t>(control.pes())) {}

  // Only of a PE that has connected.
  bool has_ended(int32_t pe) override;
  pid_t process(int32_t pe) override;

  // Once all have connected.
  void remember_all();

 private:
  PeerProcess& of(int32_t pe);

  Control control_;
  std::vector<std::optional<PeerProcess>> peers_;
};

// Copies from memory of a running process into this one's. False if the kernel does not allow it, or not all of that
// memory can be read; part of `dst` may be written then.
bool read_process(pid_t pid, const void* address, void* dst, uint64_t bytes);

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_HOST_PEER_PROCESS_H
