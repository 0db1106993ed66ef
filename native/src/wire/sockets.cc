#include "wire/sockets.h"

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace sparkgap {
namespace {

bool same(const sockaddr_storage& a, const sockaddr_storage& b) {
  if (a.ss_family != b.ss_family) return false;
  if (a.ss_family == AF_INET) {
    const auto& x = reinterpret_cast<const sockaddr_in&>(a);
    const auto& y = reinterpret_cast<const sockaddr_in&>(b);
    return x.sin_port == y.sin_port && x.sin_addr.s_addr == y.sin_addr.s_addr;
  }
  const auto& x = reinterpret_cast<const sockaddr_in6&>(a);
  const auto& y = reinterpret_cast<const sockaddr_in6&>(b);
  return x.sin6_port == y.sin6_port && std::memcmp(&x.sin6_addr, &y.sin6_addr, sizeof x.sin6_addr) == 0;
}

bool same(const SocketEnds& a, const SocketEnds& b) { return same(a.own, b.own) && same(a.peer, b.peer); }

bool ends_of(int fd, SocketEnds* ends) {
  socklen_t own_bytes = sizeof ends->own;
  socklen_t peer_bytes = sizeof ends->peer;
  return getsockname(fd, reinterpret_cast<sockaddr*>(&ends->own), &own_bytes) == 0 &&
         (ends->own.ss_family == AF_INET || ends->own.ss_family == AF_INET6) &&
         getpeername(fd, reinterpret_cast<sockaddr*>(&ends->peer), &peer_bytes) == 0;
}

// Calls body(fd, ends) for each connected socket of this process.
template <class Body>
void for_each_socket(const Body& body) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (folder == nullptr) return;
  std::vector<int> descriptors;
  while (const dirent* entry = readdir(folder.get())) {
    if (entry->d_name[0] != '.') descriptors.push_back(std::atoi(entry->d_name));
  }
  for (const int fd : descriptors) {
    SocketEnds ends = {};
    if (ends_of(fd, &ends)) body(fd, ends);
  }
}

bool is_among(const std::vector<SocketEnds>& connections, const SocketEnds& ends) {
  return std::any_of(connections.begin(), connections.end(),
                     [&](const SocketEnds& connection) { return same(connection, ends); });
}

void set(int fd, int level, int name, int64_t value) {
  const int number = static_cast<int>(value);
  setsockopt(fd, level, name, &number, sizeof number);
}

}  // namespace

size_t watch_sockets(const std::vector<SocketEnds>& connections, int64_t keepalive_ms, int64_t dead_after_ms) {
  size_t found = 0;
  const int64_t interval = std::max<int64_t>(1, keepalive_ms / 1000);
  for_each_socket([&](int fd, const SocketEnds& ends) {
    if (!is_among(connections, ends)) return;
    ++found;
    set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(fd, IPPROTO_TCP, TCP_KEEPIDLE, interval);
    set(fd, IPPROTO_TCP, TCP_KEEPINTVL, interval);
    set(fd, IPPROTO_TCP, TCP_KEEPCNT, std::max<int64_t>(1, dead_after_ms / 1000 / interval));
    set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, dead_after_ms);
  });
  return found;
}

void close_strangers(const sockaddr_storage& own, const std::vector<SocketEnds>& taken) {
  for_each_socket([&](int fd, const SocketEnds& ends) {
    if (same(ends.own, own) && !is_among(taken, ends)) close(fd);
  });
}

}  // namespace sparkgap
