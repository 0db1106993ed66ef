// Where a wire listens, and what a connection proves. Run within tools/hosts/hosts.py --hosts 2 run.
#include <netinet/in.h>

#include <string>

#include "wire/proof.h"
#include "wire/wire_pair.h"

namespace sparkgap::test {
namespace {

uint16_t port_of(const WireContact& contact) {
  sockaddr_in address = {};
  std::memcpy(&address, contact.address, sizeof address);
  return ntohs(address.sin_port);
}

void ports_are_those_of_the_range() {
  const Shared<Board> board;
  const pid_t process = start_on_host(0, [&] {
    std::vector<std::unique_ptr<WirePe>> ends;
    bool taken[3] = {};
    for (int i = 0; i < 3; ++i) {
      ends.push_back(std::make_unique<WirePe>(board[0], i, 4, "eth0", "23001-23003"));
      const int port = port_of(board[0].cards[i].contact);
      expect(port >= 23001 && port <= 23003 && !taken[port - 23001], "port %d", port);
      taken[port - 23001] = true;
    }
    try {
      WirePe(board[0], 3, 4, "eth0", "23001-23003");
    } catch (const sparkgap::Failure& failure) {
      expect(failure.status == SPARKGAP_UNAVAILABLE &&
                 std::strstr(failure.message, "spark.sparkgap.wire.ports") != nullptr,
             "taken ports are told as: %s", failure.message);
      return;
    }
    throw Failure("a fourth listener found one of three ports");
  });
  join(process, "host 0");
}

std::string refusal_of(const std::string& address, const std::string& ports, const std::string& kind) {
  char found[1000];
  Text text(found, sizeof found);
  try {
    probe_wire(kind.c_str(), address.c_str(), ports.c_str(), SPARKGAP_FABRIC_LIBRARY, text);
  } catch (const sparkgap::Failure& failure) {
    return failure.message;
  }
  return "";
}

void an_address_is_given_in_four_ways() {
  join(start_on_host(1,
                     [] {
                       for (const char* address : {"10.77.0.2", "eth0", "10.77.0.0/16", "host1", "127.0.0.1", "lo"}) {
                         const std::string said = refusal_of(address, "", "tcp");
                         expect(said.empty(), "%s: %s", address, said.c_str());
                       }
                       for (const char* address : {"10.77.0.1", "eth7", "10.78.0.0/16", "host0", "10.77.0.2/33", ""}) {
                         const std::string said = refusal_of(address, "", "tcp");
                         expect(said.find("10.77.0.2 (eth0)") != std::string::npos, "%s was taken, or told as: %s",
                                address, said.c_str());
                       }
                       for (const char* ports : {"x", "0", "5-4", "1-70000", "20000-", "-3", "20000,20001"}) {
                         const std::string said = refusal_of("eth0", ports, "tcp");
                         expect(said.find("no range of ports") != std::string::npos, "%s was taken, or told as: %s",
                                ports, said.c_str());
                       }
                       expect(refusal_of("eth0", "", "pigeons").find("auto, tcp or verbs") != std::string::npos,
                              "a wire of pigeons");
                     }),
       "host 1");
}

void the_hash_is_siphash() {
  uint8_t key_bytes[16];
  uint8_t message[15];
  for (uint8_t i = 0; i < 16; ++i) key_bytes[i] = i;
  for (uint8_t i = 0; i < 15; ++i) message[i] = i;
  uint64_t key[2];
  std::memcpy(key, key_bytes, sizeof key);
  expect(siphash(key, message, sizeof message) == 0xa129ca6149be45e5u, "another hash");
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(argc, argv,
                   {{"the_hash_is_siphash", the_hash_is_siphash},
                    {"an_address_is_given_in_four_ways", an_address_is_given_in_four_ways},
                    {"ports_are_those_of_the_range", ports_are_those_of_the_range}});
}
