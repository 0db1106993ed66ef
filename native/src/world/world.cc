#include "world/world.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "engine/engines.h"
#include "protocol/abort.h"
#include "protocol/agreed_options.h"
#include "protocol/call.h"
#include "provider/host/cpu_limits.h"
#include "provider/host/host_provider.h"

namespace sparkgap {
namespace {

// A look with its pause takes 15 to 40 ns. PEs with a core each look for some ten microseconds; PEs that share cores
// about as long as a switch to another process takes.
constexpr int32_t kSpins = 2000;
constexpr int32_t kSpinsWhenSharing = 60;
// How long they then stay awake. With a core for each: longer than the scheduler lets another process have it.
constexpr int64_t kAwakeUs = 10000;
constexpr int64_t kAwakeUsWhenSharing = 1000;
// So that it can be counted in nanoseconds from any moment of a clock.
constexpr int64_t kLongestTimeoutMs = int64_t{100} * 365 * 24 * 3600 * 1000;

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

World::~World() {
  if (getpid() != process_) {
    // A child of fork has a copy, but neither the PE nor its GPU: what is there of those stays as it is.
    if (memory_is_device()) {
      for (const auto& step : steps_) static_cast<void>(step->recorded.release());
      for (const auto& buffer : buffers_) static_cast<void>(buffer->memory.release());
      static_cast<void>(engine_.release());
    }
    return;
  }
  if (recording_ != nullptr && engine_->recorder() != nullptr) engine_->recorder()->drop_recording();
  steps_.clear();
  buffers_.clear();
  const bool left = engine_ == nullptr || engine_->leave();
  if (!control_ || !left) return;
  uint32_t& state = control_.record(options_.near_pe()).state;
  if (load_relaxed(&state) < kLeft) store_release(&state, kLeft);
  wake_sleepers(control_.header());
}

void World::open(const sparkgap_world_options& options) {
  if (options.pes < 1 || options.pes > SPARKGAP_MAX_PES) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "pes is %d, but a world has 1 to %d PEs", options.pes, SPARKGAP_MAX_PES);
  }
  if (options.pe < 0 || options.pe >= options.pes) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "pe is %d, but a world of %d PEs has 0 to %d", options.pe, options.pes,
         options.pes - 1);
  }
  if (options.peer_timeout_ms <= 0) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "peer_timeout_ms must be more than 0, not %lld",
         static_cast<long long>(options.peer_timeout_ms));
  }
  if (options.kernel_max_blocks < 0) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "kernel_max_blocks is %d, but must be 0 (as many as are fastest) or more",
         options.kernel_max_blocks);
  }
  if (options.resident_idle_ms < 0) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "resident_idle_ms is %d, but must be 0 (no kernel stays) or more",
         options.resident_idle_ms);
  }
  options_.pe = options.pe;
  options_.pes = options.pes;
  options_.epoch = options.epoch;
  options_.peer_timeout_ms = std::min(options.peer_timeout_ms, kLongestTimeoutMs);
  options_.check = options.check != 0;
  const EngineKind& kind = engine_kind(options.provider);
  options_.provider = options.provider;
  options_.label = text_or_empty(options.label);
  options_.host_directory = text_or_empty(options.host_directory);
  options_.device = options.device;
  options_.device_shared = options.device_shared != 0;
  options_.kernel_max_blocks = options.kernel_max_blocks;
  options_.resident_idle_ms = options.resident_idle_ms;
  options_.nvshmem_library = text_or_empty(options.nvshmem_library);
  options_.nccl_library = text_or_empty(options.nccl_library);
  open_nodes(options);
  const EngineKind& engine = options_.node_pes == options_.pes ? kind : engine_kind_of_nodes(kind);
  circumstances_.pes = options.pes;
  circumstances_.provider = engine.provider;
  make_routes();
  provider_ = std::make_unique<HostProvider>(options_);
  engine_ = engine.make(options_);
  if (options_.near_pe() == 0) provider_->make_world();
  created_ = true;
}

void World::open_nodes(const sparkgap_world_options& options) {
  options_.node_first_pe = options.node_pes == 0 ? 0 : options.node_first_pe;
  options_.node_pes = options.node_pes == 0 ? options.pes : options.node_pes;
  const bool fits = options_.node_pes >= 1 && options_.node_first_pe >= 0 &&
                    options_.node_pes <= options_.pes - options_.node_first_pe && options_.near_pe() >= 0 &&
                    options_.near_pe() < options_.node_pes;
  if (!fits) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "PE %d of %d cannot be in a node of PEs %d to %d", options_.pe, options_.pes,
         options_.node_first_pe, options_.node_first_pe + options_.node_pes - 1);
  }
  options_.wire = text_or_empty(options.wire);
  options_.wire_address = text_or_empty(options.wire_address);
  options_.wire_ports = text_or_empty(options.wire_ports);
  options_.fabric_library = text_or_empty(options.fabric_library);
}

void World::check_created() const {
  if (created_) return;
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "the world was not created");
}

void World::write_id(uint8_t* id) {
  check_created();
  if (options_.pe != 0) fail(SPARKGAP_INVALID_ARGUMENT, options_.pe, "only PE 0 has the world's id");
  if (options_.node_pes != options_.pes) {
    fail(SPARKGAP_INVALID_ARGUMENT, options_.pe,
         "a world on several nodes has a card of each PE (sparkgap_world_card)");
  }
  provider_->write_id(id);
}

void World::write_card(uint8_t* card) {
  check_created();
  uint8_t id[SPARKGAP_WORLD_ID_BYTES];
  const bool has_id = options_.near_pe() == 0;
  if (has_id) provider_->write_id(id);
  engine_->write_card(card, has_id ? id : nullptr);
}

void World::connect(const uint8_t* id) {
  check_created();
  if (options_.node_pes != options_.pes) {
    fail(SPARKGAP_INVALID_ARGUMENT, options_.pe,
         "a world on several nodes is connected by all PEs' cards (sparkgap_world_connect_cards)");
  }
  connect_to(id);
}

void World::connect_cards(const uint8_t* cards) {
  check_created();
  connect_to(engine_->take_cards(cards));
}

void World::connect_to(const uint8_t* id) {
  if (control_) fail(SPARKGAP_INVALID_ARGUMENT, options_.pe, "PE %d has been connected already", options_.pe);
  try {
    control_ = provider_->open_world(id);
    publish_control();
    meet_peers();
  } catch (const Failure& failure) {
    broken_ = failure;
    throw;
  }
  connected_ = true;
}

void World::meet_peers() {
  WaitOptions wait;
  wait.timeout_ms = options_.peer_timeout_ms;
  wait.spins = kSpinsWhenSharing;
  wait.awake_us = kAwakeUsWhenSharing;
  wait.shares_cores = true;
  node_.emplace(control_, options_.node_first_pe, options_.near_pe(), provider_.get(), wait);
  call_line_ = &control_.call_line(node_->pe());
  CallSignature signature = {};
  signature.operation = kOperationConnect;
  const Span span(*this, signature);
  wait_for_peers_to_connect();
  provider_->all_connected();
  compare_options();
  learn_circumstances();
  verify_puts();
  engine_->connect(*node_, &circumstances_);
  learn_links();
  if (tables_.name_a_device()) learn_device();
  believe_hints();
  tables_.choose(believed_);
  make_routes();
  open_beside();
  check_routes();
  engine_->use(routes_);
  // Other nodes may be on this machine, too.
  choose_waits();
  store_release(&call_line_->last_of_run, calls_);
  node_->waiter().begin_run(calls_);
}

void World::publish_control() {
  std::lock_guard<std::mutex> lock(abort_mutex_);
  control_published_ = true;
  if (abort_requested_) abort_world(control_, options_.pe, abort_failure_);
}

void World::wait_for_peers_to_connect() {
  for (int32_t peer = 0; peer < node_->pes(); ++peer) {
    const uint32_t* state = &control_.record(peer).state;
    node_->waiter().until(peer, [state] { return load_acquire(state) >= kConnected; });
  }
}

// Each PE begins with PE 0, so that all that differ from it tell the same.
void World::compare_options() {
  const AgreedOptions mine = control_.record(node_->pe()).options;
  for (int32_t pe = 0; pe < node_->pes(); ++pe) {
    const std::string label = node_->label(pe);
    const Failure failure = sparkgap::compare_options(
        {options_.pe, options_.label.c_str()}, mine, {node_->world_pe(pe), label.c_str()}, control_.record(pe).options);
    if (failure.status != SPARKGAP_OK) node_->waiter().give_up(failure);
  }
}

void World::learn_circumstances() {
  std::vector<CpuLimits> cpus;
  for (int32_t pe = 0; pe < node_->pes(); ++pe) cpus.push_back(control_.record(pe).cpus);
  circumstances_.oversubscribed = share_cpus(cpus);
  choose_waits();
}

void World::choose_waits() {
  WaitOptions wait = node_->waiter().options();
  wait.shares_cores = circumstances_.oversubscribed;
  wait.spins = wait.shares_cores ? kSpinsWhenSharing : kSpins;
  wait.awake_us = wait.shares_cores ? kAwakeUsWhenSharing : kAwakeUs;
  node_->waiter().set_options(wait);
}

// Each PE writes a word into every other's slot, and looks for theirs.
void World::verify_puts() {
  Steps& steps = node_->steps();
  const int32_t own = node_->pe();
  steps.begin();
  for (int32_t peer = 0; peer < node_->pes(); ++peer) {
    reinterpret_cast<uint64_t*>(steps.slot(peer))[own] = node_->token(own, peer);
  }
  steps.post();
  steps.wait_for_all();
  const uint64_t* received = reinterpret_cast<const uint64_t*>(steps.slot(own));
  for (int32_t peer = 0; peer < node_->pes(); ++peer) {
    if (received[peer] == node_->token(peer, own)) continue;
    Failure failure;
    failure.status = SPARKGAP_INTERNAL;
    failure.pe = node_->world_pe(peer);
    Text(failure.message, sizeof failure.message)
        .add("PE %d (%s) did not see the verified put of PE %d (%s)", options_.pe, options_.label.c_str(), failure.pe,
             node_->label(peer).c_str());
    node_->waiter().give_up(failure);
  }
  steps.meet();
}

void World::abort(const char* reason) {
  Failure failure;
  failure.status = SPARKGAP_ABORTED;
  Text(failure.message, sizeof failure.message).add("%.1000s", reason == nullptr ? "no reason given" : reason);
  std::lock_guard<std::mutex> lock(abort_mutex_);
  if (abort_requested_) return;
  abort_requested_ = true;
  abort_failure_ = failure;
  if (control_published_) abort_world(control_, options_.pe, failure);
}

void World::check_usable() const {
  if (control_ && is_aborted(control_)) {
    engine_->check_process();
    fail_as_aborted(control_, options_.pe);
  }
  if (connected_) return;
  if (broken_.status != SPARKGAP_OK) throw broken_;
  const std::lock_guard<std::mutex> lock(abort_mutex_);
  if (abort_requested_) throw abort_failure_;
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "the world is not connected yet");
}

void World::begin_call(const CallSignature& signature, uint64_t digest) {
  __atomic_store_n(&calls_, calls_ + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);  // behind the number of the call before (layout.h)
  write_signature(&call_line_->signature[calls_ % kCallsKept], signature);
  store_release(&call_line_->begun, calls_);
  Steps& steps = node_->steps();
  steps.begin_call(digest);
  if (options_.check && connected_ && signature.operation != kOperationFree) steps.meet();
}

Buffer* World::allocate(uint64_t bytes) {
  CallSignature signature = {};
  signature.operation = kOperationAllocate;
  signature.buffer = ++allocations_;
  signature.count = bytes;
  auto buffer = std::make_unique<Buffer>();
  buffer->world = this;
  buffer->bytes = bytes;
  buffer->number = allocations_;
  buffers_.reserve(buffers_.size() + 1);
  const Span span(*this, signature);
  if (bytes > 0) {
    buffer->memory = engine_->allocate(bytes);
  } else {
    node_->steps().meet();
  }
  buffers_.push_back(std::move(buffer));
  return buffers_.back().get();
}

void World::free(Buffer* buffer) {
  const auto found =
      std::find_if(buffers_.begin(), buffers_.end(), [buffer](const auto& owned) { return owned.get() == buffer; });
  if (found == buffers_.end()) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "the buffer is not one of this world, or has been freed");
  }
  if (buffer->steps > 0) refuse_held(*buffer);
  const std::unique_ptr<Buffer> freed = std::move(*found);
  buffers_.erase(found);
  if (is_aborted(control_)) return;
  CallSignature signature = {};
  signature.operation = kOperationFree;
  signature.buffer = freed->number;
  signature.count = freed->bytes;
  // No wait: a peer that still uses the buffer has it mapped until it frees it, too, so that a PE can leave early.
  const Span span(*this, signature);
  // What is left of the run before is none of this one's calls.
  if (calls_ == node_->waiter().run_after() + 1) node_->waiter().begin_run(calls_);
}

void World::finish() {
  store_relaxed(&call_line_->last_of_run, calls_);
  store_release(&call_line_->runs, call_line_->runs + 1);
  node_->waiter().begin_run(calls_);
  wake_sleepers(control_.header());
}

int32_t World::node_of(int32_t pe) const {
  return connected_ && pe >= 0 && pe < options_.pes ? engine_->node_of(pe) : -1;
}

int32_t World::link(int32_t a, int32_t b) const {
  const auto is_there = [this](int32_t pe) { return pe >= 0 && pe < options_.pes; };
  if (!connected_ || !is_there(a) || !is_there(b)) return -1;
  return engine_->link(a, b);
}

const char* World::describe() {
  char line[kMaxMessageBytes];
  Text text(line, sizeof line);
  text.add("%s: %d PEs, this is PE %d, epoch %llu", engine_ == nullptr ? "no provider" : options_.provider.c_str(),
           options_.pes, options_.pe, static_cast<unsigned long long>(options_.epoch));
  if (connected_ && circumstances_.oversubscribed) text.add(", more PEs than CPUs");
  if (tables_.table() != nullptr) text.add(", tuning table %s", tables_.table()->name.c_str());
  if (engine_ != nullptr) {
    text.add(", ");
    engine_->describe(text);
  }
  description_ = line;
  return description_.c_str();
}

}  // namespace sparkgap
