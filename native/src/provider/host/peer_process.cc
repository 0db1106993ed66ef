#include "provider/host/peer_process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <utility>

#include "provider/host/identity.h"

namespace sparkgap {

PeerProcess::PeerProcess(PeerProcess&& other) noexcept
    : pid_(other.pid_), start_time_(other.start_time_), pidfd_(std::exchange(other.pidfd_, -1)), tried_(other.tried_) {}

PeerProcess::~PeerProcess() {
  if (pidfd_ >= 0) close(pidfd_);
}

bool PeerProcess::has_ended() {
  if (!tried_) {
    tried_ = true;
    pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
    // The descriptor is of whoever has the PID now; that it is the peer shows its start time.
    if (process_is_gone(pid_, start_time_)) return true;
  }
  if (pidfd_ < 0) return process_is_gone(pid_, start_time_);
  pollfd descriptor = {pidfd_, POLLIN, 0};
  return poll(&descriptor, 1, 0) > 0;
}

bool PeerProcesses::has_ended(int32_t pe) { return process(pe) != getpid() && of(pe).has_ended(); }

pid_t PeerProcesses::process(int32_t pe) { return of(pe).pid(); }

PeerProcess& PeerProcesses::of(int32_t pe) {
  std::optional<PeerProcess>& peer = peers_[static_cast<size_t>(pe)];
  if (!peer) {
    const PeRecord& record = control_.record(pe);
    peer.emplace(record.pid, record.start_time);
  }
  return *peer;
}

void PeerProcesses::remember_all() {
  for (int32_t pe = 0; pe < control_.pes(); ++pe) of(pe);
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
