// The hosts of tools/hosts/hosts.py run, within which tests of several hosts are started.
#ifndef SPARKGAP_TEST_SUPPORT_HOSTS_H
#define SPARKGAP_TEST_SUPPORT_HOSTS_H

#include <sys/types.h>

#include <functional>
#include <string>

namespace sparkgap::test {

// How many there are; 0 outside of hosts.py run.
int hosts();

// "10.77.0.1" for host 0.
std::string address_of_host(int host);

// Makes the calling process one of that host; only what it forks from then on has a number there (getpid).
void enter_host(int host);

// Goes on in a child of this process on that host; this process exits as the child does.
void move_to_host(int host);

// Runs `body` in a process of that host, which exits with 0 if it returns and with 1 if it throws (the sentence goes to
// stdout). `host` -1: where the caller is.
pid_t start_on_host(int host, const std::function<void()>& body);

// Throws a Failure unless the process exits with 0.
void join(pid_t process, const char* name);

// Takes the host's network away, or gives it back.
void set_link(int host, bool up);
// The same of the host that the caller is on.
void set_own_link(bool up);
void set_mtu(int host, int bytes);

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_SUPPORT_HOSTS_H
