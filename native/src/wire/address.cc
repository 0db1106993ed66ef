#include "wire/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "base/error.h"

namespace sparkgap {
namespace {

constexpr int32_t kLastPort = 65535;

struct Address {
  int family = AF_UNSPEC;
  uint8_t bytes[16] = {};

  int size() const { return family == AF_INET ? 4 : 16; }
  bool operator==(const Address& other) const {
    return family == other.family && std::memcmp(bytes, other.bytes, sizeof bytes) == 0;
  }
  std::string text() const {
    char buffer[INET6_ADDRSTRLEN] = "";
    inet_ntop(family, bytes, buffer, sizeof buffer);
    return buffer;
  }
  bool shares(const Address& network, int bits) const {
    if (family != network.family) return false;
    for (int i = 0; i < bits; ++i) {
      const int shift = 7 - i % 8;
      if ((bytes[i / 8] >> shift & 1) != (network.bytes[i / 8] >> shift & 1)) return false;
    }
    return true;
  }
};

struct Interface {
  std::string name;
  Address address;
  bool is_loopback;
};

Address address_of(const sockaddr* from) {
  Address address;
  address.family = from->sa_family;
  if (from->sa_family == AF_INET) {
    std::memcpy(address.bytes, &reinterpret_cast<const sockaddr_in*>(from)->sin_addr, 4);
  } else {
    std::memcpy(address.bytes, &reinterpret_cast<const sockaddr_in6*>(from)->sin6_addr, 16);
  }
  return address;
}

bool parse(const std::string& text, Address* address) {
  for (const int family : {AF_INET, AF_INET6}) {
    *address = Address();
    address->family = family;
    if (inet_pton(family, text.c_str(), address->bytes) == 1) return true;
  }
  return false;
}

// Link-local addresses of IPv6 say nothing without an interface.
bool is_usable(const sockaddr* address) {
  if (address == nullptr) return false;
  if (address->sa_family == AF_INET) return true;
  return address->sa_family == AF_INET6 &&
         !IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

std::vector<Interface> own_interfaces() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe, "cannot list this host's addresses: %s", std::strerror(errno));
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, freeifaddrs);
  std::vector<Interface> found;
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if ((at->ifa_flags & IFF_UP) == 0 || !is_usable(at->ifa_addr)) continue;
    // IPv4 first: an interface's name means that one where it has both.
    const bool first = at->ifa_addr->sa_family == AF_INET;
    found.insert(first ? found.begin() : found.end(),
                 {at->ifa_name, address_of(at->ifa_addr), (at->ifa_flags & IFF_LOOPBACK) != 0});
  }
  return found;
}

// Of a network with its length, or -1 if `text` is none.
int parse_network(const std::string& text, Address* network) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos || !parse(text.substr(0, slash), network)) return -1;
  char* end = nullptr;
  const long bits = std::strtol(text.c_str() + slash + 1, &end, 10);
  const bool whole = end != text.c_str() + slash + 1 && *end == '\0';
  return whole && bits >= 0 && bits <= 8 * network->size() ? static_cast<int>(bits) : -1;
}

std::vector<Address> resolve(const std::string& name) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  std::vector<Address> found;
  if (getaddrinfo(name.c_str(), nullptr, &hints, &list) != 0) return found;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
  for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
    if (is_usable(at->ai_addr)) found.push_back(address_of(at->ai_addr));
  }
  return found;
}

// Linux listens on all of 127.0.0.0/8, whatever the loopback interface lists.
bool is_loopback(const Address& address) { return address.family == AF_INET && address.bytes[0] == 127; }

}  // namespace

std::string own_address(const std::string& wanted) {
  const std::vector<Interface> interfaces = own_interfaces();
  const auto is_own = [&](const Address& address) {
    if (is_loopback(address)) return true;
    for (const Interface& own : interfaces) {
      if (own.address == address) return true;
    }
    return false;
  };
  for (const Interface& own : interfaces) {
    if (own.name == wanted) return own.address.text();
  }
  Address network;
  if (const int bits = parse_network(wanted, &network); bits >= 0) {
    for (const Interface& own : interfaces) {
      if (own.address.shares(network, bits)) return own.address.text();
    }
  }
  Address numeric;
  if (parse(wanted, &numeric)) {
    if (is_own(numeric)) return numeric.text();
  } else {
    for (const Address& address : resolve(wanted)) {
      if (is_own(address)) return address.text();
    }
  }
  std::string known;
  for (const Interface& own : interfaces) {
    known += (known.empty() ? "" : ", ") + own.address.text() + " (" + own.name + ")";
  }
  fail(SPARKGAP_UNAVAILABLE, kNoPe,
       "\"%s\" is no address, interface, network or name of this host, which has: %s. spark.sparkgap.wire.address says "
       "where a world's PEs reach each other between hosts",
       wanted.c_str(), known.empty() ? "none that is up" : known.c_str());
}

OwnInterface own_interface(const std::string& wanted) {
  Address address;
  const std::string text = own_address(wanted);
  parse(text, &address);
  for (const Interface& own : own_interfaces()) {
    const bool has_it = own.address == address || (own.is_loopback && is_loopback(address));
    if (has_it) return {own.name, address.family == AF_INET6};
  }
  fail(SPARKGAP_UNAVAILABLE, kNoPe, "no interface of this host has the address %s any more", text.c_str());
}

PortRange parse_ports(const std::string& text) {
  if (text.empty()) return {};
  char* end = nullptr;
  const long first = std::strtol(text.c_str(), &end, 10);
  long last = first;
  bool whole = end != text.c_str();
  if (whole && *end == '-') {
    const char* second = end + 1;
    last = std::strtol(second, &end, 10);
    whole = end != second;
  }
  if (!whole || *end != '\0' || first < 1 || last < first || last > kLastPort) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe,
         "\"%s\" is no range of ports: spark.sparkgap.wire.ports is empty, or like 20000-20100, from 1 to %d",
         text.c_str(), kLastPort);
  }
  return {static_cast<int32_t>(first), static_cast<int32_t>(last)};
}

}  // namespace sparkgap
