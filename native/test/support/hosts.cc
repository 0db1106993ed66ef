#include "support/hosts.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
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

void shell(const std::string& command) { expect(std::system(command.c_str()) == 0, "failed: %s", command.c_str()); }

std::string in_network_of(int host) { return "nsenter -t " + holder(host) + " -n ip link set dev eth0 "; }

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

void set_link(int host, bool up) { shell(in_network_of(host) + (up ? "up" : "down")); }

void set_own_link(bool up) { shell(std::string("ip link set dev eth0 ") + (up ? "up" : "down")); }

void set_mtu(int host, int bytes) { shell(in_network_of(host) + "mtu " + std::to_string(bytes)); }

}  // namespace sparkgap::test
