// Which of the host's addresses and ports a wire listens on.
#ifndef SPARKGAP_WIRE_ADDRESS_H
#define SPARKGAP_WIRE_ADDRESS_H

#include <cstdint>
#include <string>

namespace sparkgap {

// The numeric address that `wanted` means on this host: a numeric address itself, the address of an interface ("eth1"),
// this host's address in a network ("10.1.0.0/16"), or what a name resolves to. Throws UNAVAILABLE, with the addresses
// that there are, if it means none of this host's.
std::string own_address(const std::string& wanted);

// The interface that has the address of own_address, for libraries that are told interfaces and not addresses.
struct OwnInterface {
  std::string name;
  bool is_ipv6 = false;
};
OwnInterface own_interface(const std::string& wanted);

struct PortRange {
  int32_t first = 0;  // both 0: any
  int32_t last = 0;
};

// "" or "20000-20100" or "20000". Throws INVALID_ARGUMENT.
PortRange parse_ports(const std::string& text);

}  // namespace sparkgap

#endif  // SPARKGAP_WIRE_ADDRESS_H
