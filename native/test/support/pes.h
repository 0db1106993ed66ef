// Runs the PEs of one world, as processes or as threads of this process, each through the same body.
#ifndef SPARKGAP_TEST_SUPPORT_PES_H
#define SPARKGAP_TEST_SUPPORT_PES_H

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "sparkgap/sparkgap.h"

namespace sparkgap::test {

// `count` zeroed elements that forked processes share, for what PEs tell the test.
template <class T>
class Shared {
 public:
  static_assert(std::is_trivially_destructible_v<T>);

  explicit Shared(size_t count = 1) : bytes_(count * sizeof(T)) {
    void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    elements_ = static_cast<T*>(memory);
  }
  ~Shared() { munmap(elements_, bytes_); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  T& operator[](size_t i) const { return elements_[i]; }
  T* operator->() const { return elements_; }

 private:
  size_t bytes_;
  T* elements_;
};

enum class Placement { kProcesses, kThreads };

struct Pes {
  int count;
  Placement placement = Placement::kProcesses;
  bool check = false;
  double deadline_seconds = 60;  // for the whole run; whoever is left then is killed
  int64_t peer_timeout_ms = 20000;
  uint64_t epoch = 1;
  const char* host_directory = "";  // as in sparkgap_world_options
  // PE i has GPU i % gpus; provider host has none. PEs that share one must say so.
  const char* provider = "host";
  int gpus = 0;
  bool device_shared = false;
  bool has_world = true;  // false: a body makes its worlds itself
  // PEs of each node, if there are several; joined by the loopback interface, or each on a host of its own
  // (support/hosts.h).
  std::vector<int> nodes = {};
  bool on_hosts = false;
  // Changes what PE `number` is made with.
  std::function<void(int number, sparkgap_world_options& options)> spoil_options = nullptr;
  const char* nccl_library = nullptr;  // nullptr: whatever is found
};

// Processes on several nodes, so many on each, joined by the loopback interface.
Pes nodes_of(const std::vector<int>& nodes);

// The node of a PE.
int node_of(const Pes& pes, int number);

// What sparkgap_world_create is given for PE `number`; `label` must outlive it.
sparkgap_world_options options_of(const Pes& pes, int number, const char* label);

// What a body gets: its end of a connected world.
class Pe {
 public:
  Pe(sparkgap_world* world, int pe, int pes, const std::vector<int>& nodes = {})
      : world_(world), pe_(pe), pes_(pes), nodes_(nodes) {}

  sparkgap_world* world() const { return world_; }
  int pe() const { return pe_; }
  int pes() const { return pes_; }
  // As Pes::nodes.
  const std::vector<int>& nodes() const { return nodes_; }

  // Throws a Failure that names the call and what the world says, unless status is SPARKGAP_OK.
  void ok(sparkgap_status status, const char* call) const;

  // Collective: a symmetric buffer that lives as long as the world.
  sparkgap_buffer* allocate(uint64_t bytes) const;

 private:
  sparkgap_world* world_;
  int pe_;
  int pes_;
  std::vector<int> nodes_;
};

// Returns when every PE's body has; throws a Failure that tells, in the order of the events, which PEs failed and why.
// A PE that fails aborts its world, so that the others end as well. No process is left behind.
void run_pes(const Pes& pes, const std::function<void(const Pe&)>& body);

// "host processes" or "host threads", for messages.
const char* placement_name(Placement placement);

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_SUPPORT_PES_H
