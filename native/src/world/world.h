// One PE's end of a world: what a sparkgap_world handle is.
#ifndef SPARKGAP_WORLD_WORLD_H
#define SPARKGAP_WORLD_WORLD_H

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "description/call.h"
#include "engine/engine.h"
#include "protocol/atomics.h"
#include "protocol/call.h"
#include "protocol/control.h"
#include "protocol/node.h"
#include "provider/provider.h"
#include "select/explain.h"
#include "sparkgap/sparkgap.h"
#include "world/counters.h"
#include "world/hints.h"
#include "world/step.h"
#include "world/tables.h"

namespace sparkgap {
class World;
}

// A symmetric buffer. `memory` is null for one of zero bytes.
struct sparkgap_buffer {
  const sparkgap::World* world = nullptr;
  uint64_t bytes = 0;
  uint32_t number = 0;  // in the order of allocation, the same on all PEs
  std::unique_ptr<sparkgap::SymmetricMemory> memory;
  int32_t steps = 0;           // that use it
  uint64_t shape_of_rows = 0;  // a digest of the shape that rows last came through it with; 0: none have
};

// A point in the stream of a world that has streams.
struct sparkgap_event {
  const sparkgap::World* world = nullptr;
  std::unique_ptr<sparkgap::Event> event;
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
  void write_card(uint8_t* card);
  void connect_cards(const uint8_t* cards);
  void abort(const char* reason);  // any thread

  // Throws what the world has failed with, if it has, or that it is not connected.
  void check_usable() const;

  // Makes a call whose arguments have been checked; fills in its algorithm. Inlined where the collective is known, so
  // that what its description says costs nothing.
  void collective(CollectiveCall& call) {
    const bool empty = is_empty(call);
    if (!empty) call.algorithm = algorithm_of_call(call.collective, given_bytes(call));
    if (__builtin_expect(recording_ != nullptr, 0)) return record(call);
    Counting counting = count(call.collective, call.algorithm, bytes_of_in(call, options_.pes));
    const Span span(*this, signature_of(call));
    if (!empty) counting.by(engine_->collective(call));
  }

  // Makes a one-sided call that has been checked. Inlined; what records it gets a copy, so that the call itself need
  // not be in memory.
  void one_sided(const OneSidedCall& call) {
    if (__builtin_expect(recording_ != nullptr, 0)) return record(OneSidedCall(call));
    make(call);
  }

  // Makes a call that exchanges rows, whose arguments have been checked but for what lies in memory (rows.cc).
  void rows(const RowsCall& call);

  // Counts a call until it ends; once the world is connected.
  Counting count(int32_t operation, Algorithm algorithm, uint64_t bytes) {
    return Counting(counters_, node_->waiter(), operation, algorithm, bytes);
  }
  // One that is no collective.
  Counting count(int32_t operation, uint64_t bytes) { return count(operation, Algorithm::kAuto, bytes); }
  // Any thread may ask.
  const Counters& counters() const { return counters_; }

  // ---- Steps (steps.cc): between begin_step and one of its two ends calls are recorded and not made.
  void begin_step();
  Step* end_step();
  void drop_step();
  void run_step(Step& step);
  void free_step(Step* step);
  // Throws if a step is being recorded, which `what` cannot be part of.
  void check_not_recording(const char* what) const {
    if (__builtin_expect(recording_ != nullptr, 0)) refuse_recording(what);
  }

  Buffer* allocate(uint64_t bytes);
  void free(Buffer* buffer);
  // This PE's function has ended; see sparkgap_world_finish.
  void finish();

  int32_t pe() const { return options_.pe; }
  int32_t pes() const { return options_.pes; }
  // Once the world has been opened; its calls come after connect.
  Engine& engine() { return *engine_; }
  // nullptr if the world has none, or was not opened.
  Streams* streams() { return engine_ == nullptr ? nullptr : engine_->streams(); }
  bool memory_is_device() const { return engine_ != nullptr && engine_->memory_is_device(); }

  // Any thread may ask.
  uint64_t calls() const { return __atomic_load_n(&calls_, __ATOMIC_RELAXED); }
  uint64_t history() const { return node_ ? node_->steps().history() : 0; }
  // SPARKGAP_LINK_...; -1 before connect or if there is no such PE.
  int32_t link(int32_t a, int32_t b) const;
  // Number of a PE's node; -1 before connect or if there is no such PE.
  int32_t node_of(int32_t pe) const;
  ProviderKind provider() const { return circumstances_.provider; }

  Algorithm algorithm_for(int32_t collective, uint64_t bytes) const { return routes_.choose(collective, bytes); }
  // After connect, collective where that is NCCL's beside NVSHMEM.
  void hold_to(int32_t collective, Algorithm algorithm);
  Explanation explain(int32_t collective, uint64_t bytes) const {
    return sparkgap::explain(collective, bytes, believed_, routes_, tables_.table());
  }
  // Throws INVALID_ARGUMENT where only routes that give the same bits are allowed, and this does not.
  void check_deterministic(int32_t collective, Algorithm algorithm) const;
  void set_deterministic(bool on);
  void set_hints(const char* text);
  void set_tables(const sparkgap_tuning_table* tables, int32_t count);
  const Tables& tables() const { return tables_; }
  // The key of a table that is for worlds like this one; of a connected world.
  const TuningTable& key();

  const char* describe();

  // The failure that sparkgap_last_error tells.
  void record(const Failure& failure) { failure_ = failure; }
  const Failure& failure() const { return failure_; }

 private:
  // The span of one collective call: numbers it, publishes it on the call board, compares it if the world checks calls.
  class Span {
   public:
    Span(World& world, const CallSignature& signature) : Span(world, signature, mix(signature)) {}
    Span(World& world, const CallSignature& signature, uint64_t digest) : world_(world) {
      world_.begin_call(signature, digest);
    }
    ~Span() { store_release(&world_.call_line_->ended, world_.calls_); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    World& world_;
  };

  // Of a call that is about to be made.
  Algorithm algorithm_of_call(int32_t collective, uint64_t bytes) {
    const Algorithm algorithm = algorithm_for(collective, bytes);
    if (__builtin_expect(algorithm != Algorithm::kDefault, 1) || !awaits_beside_) return algorithm;
    await_beside();
    return algorithm_for(collective, bytes);
  }
  void open_beside();
  void await_beside();

  void check_created() const;
  void open_nodes(const sparkgap_world_options& options);
  void connect_to(const uint8_t* id);
  void begin_call(const CallSignature& signature, uint64_t digest);
  void publish_control();
  void meet_peers();
  void wait_for_peers_to_connect();
  void compare_options();
  void learn_circumstances();
  void learn_links();
  void learn_device();
  void believe_hints();
  void make_routes();
  void check_routes() const;
  void choose_waits();
  void verify_puts();
  void record(const CollectiveCall& call);
  void record(OneSidedCall call);
  void record(const RowsCall& call);
  StepCall& record_next();
  template <class Call>
  void hand_on(const Call& call);
  void keep(const void* address);
  void keep(Buffer* buffer);
  void make(const StepCall& call);
  void make(const RowsCall& call);
  void make(const OneSidedCall& call) {
    const Counting counting = count(call.operation, counted_bytes(call));
    carry_out(*engine_, call);
  }
  void show(const Step& step, const StepCall& call);
  void check_recorder() const;
  [[noreturn]] void refuse_recording(const char* what) const;
  [[noreturn]] void refuse_held(const Buffer& buffer) const;
  [[noreturn]] void fail_step(const Step& step, const StepCall& call, const Failure& failure) const;

  const pid_t process_ = getpid();
  WorldOptions options_;
  std::unique_ptr<Provider> provider_;  // of the memory in which the PEs meet
  Control control_;
  std::optional<Node> node_;
  CallLine* call_line_ = nullptr;  // this PE's
  Circumstances circumstances_;
  Hints hints_;
  Circumstances believed_;  // the same with the user's hints: what routes are chosen by
  Routes routes_;
  Tables tables_;
  std::optional<TuningTable> key_;  // once it was asked for
  Algorithm held_[SPARKGAP_COLLECTIVES] = {};
  bool awaits_beside_ = false;  // NCCL is being opened beside NVSHMEM, and whether all PEs have it was not asked yet
  std::unique_ptr<Engine> engine_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::unique_ptr<Step> recording_;
  std::vector<std::unique_ptr<Step>> steps_;
  int32_t step_count_ = 0;  // that were recorded
  Counters counters_;
  uint64_t calls_ = 0;
  uint32_t allocations_ = 0;
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

}  // namespace sparkgap

#endif  // SPARKGAP_WORLD_WORLD_H
