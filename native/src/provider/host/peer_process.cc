#include "provider/host/peer_process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <utility>

#include "provider/host/identity.h"

namespace sparkgap {
namespace {

// Whether the PID is another's by now, or nobody's. Nothing is known where not even this process can be looked up, as
// when it has no descriptor left.
bool is_gone(pid_t pid, uint64_t start_time) {
  return process_start_time(pid) != start_time && process_start_time(getpid()) != 0;
}

}  // namespace

PeerProcess::PeerProcess(PeerProcess&& other) noexcept
    : pidfd_(std::exchange(other.pidfd_, -1)), tried_(other.tried_) {}

PeerProcess::~PeerProcess() {
  if (pidfd_ >= 0) close(pidfd_);
}

bool PeerProcess::has_ended(pid_t pid, uint64_t start_time) {
  if (!tried_) {
    tried_ = true;
    pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    // The descriptor is of whoever has the PID now; that it is the peer shows its start time.
    if (is_gone(pid, start_time)) return true;
  }
  if (pidfd_ < 0) return is_gone(pid, start_time);
  pollfd descriptor = {pidfd_, POLLIN, 0};
  return poll(&descriptor, 1, 0) > 0;
}

bool PeerProcesses::has_ended(int32_t pe) {
  const PeRecord& record = control_.record(pe);
  if (record.pid == getpid()) return false;
  return peers_[static_cast<size_t>(pe)].has_ended(record.pid, record.start_time);
}

bool read_process(pid_t pid, const void* address, void* dst, uint64_t bytes) {
  // More than 2 GB, or a page that cannot be read, end a call early; the next one says which of the two it was.
  for (uint64_t done = 0; done < bytes;) {
    const iovec to = {static_cast<uint8_t*>(dst) + done, bytes - done};
    const iovec from = {const_cast<uint8_t*>(static_cast<const uint8_t*>(address)) + done, bytes - done};
    const ssize_t read = process_vm_readv(pid, &to, 1, &from, 1, 0);
    if (read <= 0) return false;
    done += static_cast<uint64_t>(read);
  }
  return true;
}

}  // namespace sparkgap
