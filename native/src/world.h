// One PE's end of a world: what a sparkgap_world handle is.
#ifndef SPARKGAP_WORLD_H
#define SPARKGAP_WORLD_H

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "device/gpu_world.h"
#include "error.h"
#include "protocol/control.h"
#include "protocol/steps.h"
#include "protocol/wait.h"
#include "provider/provider.h"
#include "select.h"
#include "sparkgap/sparkgap.h"

namespace sparkgap {
class World;
}

// A symmetric buffer. `memory` is null for one of zero bytes.
struct sparkgap_buffer {
  const sparkgap::World* world = nullptr;
  uint64_t bytes = 0;
  std::unique_ptr<sparkgap::SymmetricMemory> memory;

  // Where this process sees byte `offset` of `pe`'s part.
  uint8_t* at(int32_t pe, uint64_t offset) const { return memory->part(pe) + offset; }
};

// A point in a GPU world's stream.
struct sparkgap_event {
  const sparkgap::World* world = nullptr;
  std::unique_ptr<sparkgap::DeviceEvent> event;
};

namespace sparkgap {

using Buffer = sparkgap_buffer;

class World {
 public:
  World() = default;
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void open(const sparkgap_world_options& options);
  void write_id(uint8_t* id);
  void connect(const uint8_t* id);
  void abort(const char* reason);  // any thread

  // Throws what the world has failed with, if it has, or that it is not connected.
  void check_usable() const;

  Buffer* allocate(uint64_t bytes);
  void free(Buffer* buffer);
  // In the order of their allocation, the same on all PEs that have made the same calls.
  const std::vector<std::unique_ptr<Buffer>>& buffers() const { return buffers_; }

  int32_t pe() const { return options_.pe; }
  int32_t pes() const { return options_.pes; }
  // The PE `distance` after this one. PEs go through their peers in this order, so that they do not all pull the same
  // lines.
  int32_t neighbour(int32_t distance) const {
    const int32_t pe = options_.pe + distance;
    return pe < options_.pes ? pe : pe - options_.pes;
  }
  // kMaxPacketDataBytes of this PE's own memory for what comes from `pe`.
  uint8_t* scratch(int32_t pe) { return scratch_.get() + static_cast<uint64_t>(pe) * kMaxPacketDataBytes; }
  const Control& control() const { return control_; }
  // nullptr in a host world.
  GpuWorld* gpu() { return gpu_.get(); }
  bool has_gpu() const { return gpu_ != nullptr; }
  Steps& steps() { return *steps_; }
  Waiter& waiter() { return *waiter_; }
  // Any thread may ask.
  uint64_t calls() const { return __atomic_load_n(&calls_, __ATOMIC_RELAXED); }
  uint64_t history() const { return steps_ ? steps_->history() : 0; }
  // SPARKGAP_LINK_...; -1 before connect or if there is no such PE.
  int32_t link(int32_t a, int32_t b) const;
  const Circumstances& circumstances() const { return circumstances_; }

  Algorithm algorithm_for(int32_t collective, uint64_t bytes) const;
  void hold_to(int32_t collective, Algorithm algorithm) { held_[collective] = algorithm; }

  // Whether PEs read each other's processes, where it helps; the same on all of them after the same calls.
  bool reads_processes() const { return reads_processes_; }
  // All PEs, in the same call: one of them could not.
  void forgo_processes() { reads_processes_ = false; }

  const char* describe();

  // The failure that sparkgap_last_error tells.
  void record(const Failure& failure) { failure_ = failure; }
  const Failure& failure() const { return failure_; }

 private:
  friend class Call;

  void check_created() const;
  void begin_call(const CallSignature& signature);
  void end_call();
  void publish_control();
  void meet_peers();
  void wait_for_peers_to_connect();
  void learn_circumstances();
  void verify_puts();

  const pid_t process_ = getpid();
  WorldOptions options_;
  // Also where the PEs of a GPU world meet: `gpu_` is what makes the difference.
  std::unique_ptr<Provider> provider_;
  Control control_;
  std::optional<Waiter> waiter_;
  std::optional<Steps> steps_;
  Circumstances circumstances_;
  bool reads_processes_ = true;
  std::unique_ptr<uint8_t[]> scratch_;
  Algorithm held_[SPARKGAP_COLLECTIVES] = {};
  std::unique_ptr<GpuWorld> gpu_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  uint64_t calls_ = 0;
  bool created_ = false;
  bool connected_ = false;
  Failure broken_;   // what connect failed with
  Failure failure_;  // what the last call that failed did
  std::string description_;

  // abort() may come from another thread while connect() is still looking for the control segment.
  mutable std::mutex abort_mutex_;
  bool abort_requested_ = false;
  bool control_published_ = false;
  Failure abort_failure_;
};

// The span of one collective call: numbers it, publishes it on the call board, compares it if the world checks calls.
class Call {
 public:
  Call(World& world, const CallSignature& signature) : world_(world) { world_.begin_call(signature); }
  ~Call() { world_.end_call(); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  World& world_;
};

}  // namespace sparkgap

#endif  // SPARKGAP_WORLD_H
