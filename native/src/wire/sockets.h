// The kernel's own watch over connections: libfabric shows no sockets, but they are this process's.
#ifndef SPARKGAP_WIRE_SOCKETS_H
#define SPARKGAP_WIRE_SOCKETS_H

#include <sys/socket.h>

#include <cstdint>
#include <vector>

namespace sparkgap {

struct SocketEnds {
  sockaddr_storage own;
  sockaddr_storage peer;
};

// Makes the kernel end each of these connections once the other host has acknowledged nothing for dead_after_ms,
// whether there is data on the way or not. Returns how many of them were found.
size_t watch_sockets(const std::vector<SocketEnds>& connections, int64_t keepalive_ms, int64_t dead_after_ms);

// Ends connections to the listener at `own` that nobody has taken: strangers that connected and said nothing.
// `taken`: those that are in use.
void close_strangers(const sockaddr_storage& own, const std::vector<SocketEnds>& taken);

}  // namespace sparkgap

#endif  // SPARKGAP_WIRE_SOCKETS_H
