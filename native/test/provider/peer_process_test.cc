// What can be known and read of another process. It is a child of this one's, which Yama allows to be read at its
// default.
#include "provider/host/peer_process.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "provider/host/identity.h"
#include "support/check.h"
#include "support/control_memory.h"

namespace sparkgap::test {
namespace {

constexpr uint8_t kOwn = 1;
constexpr uint8_t kOfChild = 2;

// As by a container's seccomp profile, which forbids it to read even itself.
bool is_forbidden_here() {
  char byte = 1;
  const iovec own = {&byte, 1};
  return process_vm_readv(getpid(), &own, 1, &own, 1, 0) < 0;
}

// Two pages at the same address in both processes, with other bytes in each, behind which nobody can read.
class Child {
 public:
  Child() : page_(static_cast<uint64_t>(sysconf(_SC_PAGESIZE))) {
    void* mapped = mmap(nullptr, 3 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(mapped != MAP_FAILED && mprotect(static_cast<uint8_t*>(mapped) + 2 * page_, page_, PROT_NONE) == 0,
           "no memory");
    memory_ = static_cast<uint8_t*>(mapped);
    fill(kOwn);
    int ready[2];
    expect(pipe(ready) == 0, "no pipe");
    pid_ = fork();
    expect(pid_ >= 0, "no child");
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      fill(kOfChild);
      const bool told = write(ready[1], "", 1) == 1;
      while (told) pause();
      _exit(1);
    }
    char byte;
    expect(read(ready[0], &byte, 1) == 1, "the child is not ready");
    close(ready[0]);
    close(ready[1]);
  }
  ~Child() {
    end();
    munmap(memory_, 3 * page_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

  pid_t pid() const { return pid_; }
  const uint8_t* memory() const { return memory_; }
  uint64_t bytes() const { return 2 * page_; }

 private:
  void fill(uint8_t byte) {
    for (uint64_t i = 0; i < bytes(); ++i) memory_[i] = byte;
  }

  uint64_t page_;
  uint8_t* memory_ = nullptr;
  pid_t pid_ = 0;
};

void what_is_read_is_the_other_processs() {
  if (is_forbidden_here()) {
    std::printf("     process_vm_readv is forbidden here\n");
    return;
  }
  const Child child;
  std::vector<uint8_t> found(child.bytes());
  expect(read_process(child.pid(), child.memory(), found.data(), child.bytes()), "it cannot be read");
  for (const uint8_t byte : found) expect(byte == kOfChild, "byte %d", byte);
}

void what_cannot_be_read_whole_is_refused() {
  const Child child;
  std::vector<uint8_t> found(child.bytes() + 1);
  expect(!read_process(child.pid(), child.memory(), found.data(), child.bytes() + 1), "a byte too many was read");
  expect(!read_process(child.pid(), nullptr, found.data(), 1), "address 0 was read");
}

void a_process_that_has_ended_is_refused() {
  Child child;
  const pid_t pid = child.pid();
  child.end();
  uint8_t byte;
  expect(!read_process(pid, child.memory(), &byte, 1), "the dead were read");
}

void a_peer_is_the_process_that_it_was_when_it_connected() {
  Child child;
  const ControlMemory memory(2);
  PeRecord& record = memory.control().record(1);
  record.pid = child.pid();
  record.start_time = process_start_time(child.pid());
  PeerProcesses peers(memory.control());
  peers.remember_all();
  const pid_t pid = child.pid();
  record.pid = getpid();
  record.start_time = 0;
  expect(peers.process(1) == pid, "a PID that was written later is followed");
  expect(!peers.has_ended(1), "the peer passes for dead");
  child.end();
  expect(peers.has_ended(1), "the peer passes for alive");
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"what_is_read_is_the_other_processs", what_is_read_is_the_other_processs},
       {"what_cannot_be_read_whole_is_refused", what_cannot_be_read_whole_is_refused},
       {"a_process_that_has_ended_is_refused", a_process_that_has_ended_is_refused},
       {"a_peer_is_the_process_that_it_was_when_it_connected", a_peer_is_the_process_that_it_was_when_it_connected}});
}
