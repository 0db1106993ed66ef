// Who a process is, in terms that another process of the same host can check.
#ifndef SPARKGAP_PROVIDER_HOST_IDENTITY_H
#define SPARKGAP_PROVIDER_HOST_IDENTITY_H

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace sparkgap {

// Changes with each boot and differs between hosts; the same in every container of a host.
std::string boot_id();

std::string host_name();

// When the kernel was started, in nanoseconds of its own clock: what namespaces and containers do not change, as little
// as the CPUs that they share. The same to about a microsecond for all processes of a machine.
int64_t kernel_start_ns();

// Inode of this process's PID namespace: the same number means that PIDs mean the same.
uint64_t pid_namespace();

// Clock ticks between boot and the start of the process; 0 if there is no such process (any more, or visible from here)
// or if it is dead and only waits to be reaped.
uint64_t process_start_time(pid_t pid);

// Whether the process that started then has ended: nobody has its PID, or another has. False where that cannot be found
// out, as when this process has no descriptor left.
bool process_is_gone(pid_t pid, uint64_t start_time);

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_HOST_IDENTITY_H
