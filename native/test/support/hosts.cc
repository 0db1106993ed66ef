#include "support/hosts.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <vector>

#include "support/check.h"

namespace sparkgap::test {
namespace {

std::vector<std::string> holders() {
  const char* listed = std::getenv("SPARKGAP_HOSTS");
  std::istringstream text(listed == nullptr ? "" : listed);
  std::vector<std::string> found;
  for (std::string process; text >> process;) found.push_back(process);
  return found;
}

std::string holder(int host) {
  const std::vector<std::string> all = holders();
  expect(host >= 0 && static_cast<size_t>(host) < all.size(),
         "there is no host %d: run this within tools/hosts/hosts.py --hosts N run", host);
  return all[host];
}

// Changes eth0 of the network that the caller is in.
template <class Change>
void change_link(unsigned long get, unsigned long set, const Change& change) {
  ifreq request = {};
  std::strncpy(request.ifr_name, "eth0", sizeof request.ifr_name - 1);
  const int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  expect(descriptor >= 0 && ioctl(descriptor, get, &request) == 0, "cannot look at eth0: %s", std::strerror(errno));
  change(request);
  expect(ioctl(descriptor, set, &request) == 0, "cannot change eth0: %s", std::strerror(errno));
  close(descriptor);
}

void set_up(bool up) {
  change_link(SIOCGIFFLAGS, SIOCSIFFLAGS, [up](ifreq& request) {
    const int flags = request.ifr_flags & ~IFF_UP;
    request.ifr_flags = static_cast<short>(up ? flags | IFF_UP : flags);
  });
}

}  // namespace

int hosts() { return static_cast<int>(holders().size()); }

std::string address_of_host(int host) { return "10.77.0." + std::to_string(host + 1); }

void enter_host(int host) {
  const std::string folder = "/proc/" + holder(host) + "/ns/";
  std::vector<int> descriptors;
  // All are opened first: the process is not to be found from within its own mount namespace.
  for (const char* name : {"net", "uts", "ipc", "pid", "mnt"}) {
    descriptors.push_back(open((folder + name).c_str(), O_RDONLY | O_CLOEXEC));
    expect(descriptors.back() >= 0, "cannot open %s%s: %s", folder.c_str(), name, std::strerror(errno));
  }
  for (const int descriptor : descriptors) {
    expect(setns(descriptor, 0) == 0, "cannot enter host %d: %s", host, std::strerror(errno));
    close(descriptor);
  }
}

void move_to_host(int host) {
  if (host >= 0) enter_host(host);
  // A PID namespace is entered by the children.
  const pid_t child = fork();
  expect(child >= 0, "fork failed: %s", std::strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

pid_t start_on_host(int host, const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t starter = fork();
  expect(starter >= 0, "fork failed: %s", std::strerror(errno));
  if (starter != 0) return starter;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    move_to_host(host);
    body();
    std::fflush(nullptr);
    std::_Exit(0);
  } catch (const std::exception& e) {
    std::printf("     on host %d: %s\n", host, e.what());
    std::fflush(nullptr);
    std::_Exit(1);
  }
}

void join(pid_t process, const char* name) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0) expect(errno == EINTR, "cannot wait for %s: %s", name, std::strerror(errno));
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s ended with status %d", name,
         WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

void set_link(int host, bool up) {
  join(start_on_host(host, [up] { set_up(up); }), "what changes a host's network");
}

void set_own_link(bool up) { set_up(up); }

void set_mtu(int host, int bytes) {
  const auto change = [bytes] {
    change_link(SIOCGIFMTU, SIOCSIFMTU, [bytes](ifreq& request) { request.ifr_mtu = bytes; });
  };
  join(start_on_host(host, change), "what changes a host's network");
}

}  // namespace sparkgap::test
