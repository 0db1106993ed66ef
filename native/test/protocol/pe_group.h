// PEs for tests: forked processes or threads, bootstrapped by passing the world id through a pipe or by value.
#ifndef SPARKGAP_TEST_PROTOCOL_PE_GROUP_H
#define SPARKGAP_TEST_PROTOCOL_PE_GROUP_H

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sparkgap/sparkgap.h"

namespace sparkgap::test {

struct GroupOptions {
  int32_t pes = 2;
  uint64_t epoch = 7;
  int64_t peer_timeout_ms = 20000;
  bool check = false;
  std::string directory = "/dev/shm";
};

sparkgap_world_options world_options(const GroupOptions& options, int32_t pe, const std::string& label);

// A connected world. Destroyed with this object. Throws if it cannot be made or connected.
class TestWorld {
 public:
  // PE 0 gives its id to `publish`; the others get it from `receive`.
  TestWorld(const GroupOptions& options, int32_t pe, const std::function<void(const uint8_t*)>& publish,
            const std::function<void(uint8_t*)>& receive);
  ~TestWorld();
  TestWorld(const TestWorld&) = delete;
  TestWorld& operator=(const TestWorld&) = delete;

  operator sparkgap_world*() const { return world_; }
  int32_t pe() const { return pe_; }
  std::string error() const { return sparkgap_last_error(world_); }

 private:
  sparkgap_world* world_ = nullptr;
  int32_t pe_;
};

using PeBody = std::function<void(TestWorld& world)>;

// How a forked PE ended: "" if its body returned, else what it threw, or the signal that ended it.
using Endings = std::vector<std::string>;

// Runs body in forked processes, one for each PE.
Endings run_processes(const GroupOptions& options, const PeBody& body);

// Runs body in threads of this process.
Endings run_threads(const GroupOptions& options, const PeBody& body);

// Throws if a PE ended badly.
void expect_all_well(const Endings& endings);

// Throws unless status is OK; the error text is in the exception.
void expect_ok(const TestWorld& world, sparkgap_status status);

// Throws unless the call failed with `expected` and the error holds all of `parts`.
void expect_failure(const TestWorld& world, sparkgap_status status, sparkgap_status expected,
                    const std::vector<std::string>& parts);

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_PROTOCOL_PE_GROUP_H
