// Calls of a GPU world, all of which are enqueued; what returns a value waits for it.
#include "engine/device/device_engine.h"
#include "protocol/call.h"

namespace sparkgap {
// Where this PE's GPU reaches what is asked for. NCCL has worlds in which PEs have collectives but no way into each
// other's memory.
uint8_t* DeviceEngine::address_in(const SymmetricMemory& memory, int32_t pe, uint64_t offset) const {
  uint8_t* part = memory.part(pe);
  if (__builtin_expect(part != nullptr, 1)) return part + offset;
  if (node_of(pe) != node_of(options_.pe)) {
    fail(SPARKGAP_UNAVAILABLE, pe,
         "PE %d is on another node than PE %d, and one-sided calls reach GPU memory of one node only: use collectives, "
         "or spark.sparkgap.provider=host, which has both",
         pe, options_.pe);
  }
  fail(SPARKGAP_UNAVAILABLE, pe,
       "the GPU memory of PE %d cannot be addressed from this PE's GPU, and NCCL puts nothing without a call on the "
       "other side: use collectives, or GPUs that are peers of each other (nvidia-smi topo -p2p w)",
       pe);
}

int64_t* DeviceEngine::word_in(const SymmetricMemory& memory, int32_t pe, uint64_t offset) const {
  return reinterpret_cast<int64_t*>(address_in(memory, pe, offset));
}

Algorithm DeviceEngine::collective(const CollectiveCall& call) {
  bool unfinished = false;
  if (!recording_) compare_between_nodes();
  uses_provider_ |= call.algorithm == Algorithm::kDefault;
  check(device_->collective(call, &unfinished, &failure_));
  if (recording_) recorded_.push_back({0, call.collective, recorded_place_});
  if (unfinished) {
    synchronize();
    check(device_->finish(&failure_));
  }
  return call.algorithm;
}

void DeviceEngine::rows(const RowsCall& call) {
  void* parts[kernels::kMaxPes] = {};
  for (int32_t pe = 0; pe < node_->pes(); ++pe) parts[pe] = call.memory->part(node_->world_pe(pe));
  if (nodes_ != nullptr || device_->lanes() == 0) return Engine::rows(call);
  const auto signature = static_cast<uint32_t>(mix(signature_of(call)) >> 32);
  check(device_->rows(call, parts, signature, &failure_));
  if (recording_) recorded_.push_back({0, call.operation, recorded_place_});
}

// The message carries a digest of all calls up to this one.
void DeviceEngine::compare_between_nodes() {
  if (options_.check && nodes_ != nullptr) nodes_->meet();
}

void DeviceEngine::put(const SymmetricMemory& dst, uint64_t offset, const void* src, uint64_t bytes, int32_t pe) {
  copy(address_in(dst, pe, offset), src, bytes);
}

void DeviceEngine::get(void* dst, const SymmetricMemory& src, uint64_t offset, uint64_t bytes, int32_t pe) {
  copy(dst, address_in(src, pe, offset), bytes);
}

void DeviceEngine::copy(void* to, const void* from, uint64_t bytes) {
  bool unfinished = false;
  check(device_->copy(to, from, bytes, &unfinished, &failure_));
  if (unfinished) synchronize();
}

// A sum over such a link could lose what another PE adds at the same moment.
void DeviceEngine::check_atomics(int32_t pe) const {
  const int32_t near = node_->local_pe(pe);
  if (__builtin_expect(near == kNoPe || !lacks_atomics_[near], 1)) return;
  fail(SPARKGAP_UNAVAILABLE, pe,
       "the link from the GPU of PE %d to that of PE %d carries no atomics (PCI Express; nvidia-smi topo -p2p a): use "
       "signals that set, each with a word of its own, or a collective",
       options_.pe, pe);
}

void DeviceEngine::signal(const SymmetricMemory& memory, uint64_t offset, int64_t value, int32_t signal_op,
                          int32_t pe) {
  if (signal_op != SPARKGAP_SIGNAL_SET) check_atomics(pe);
  check(device_->signal(word_in(memory, pe, offset), value, signal_op, &failure_));
}

void DeviceEngine::wait_signal(const SymmetricMemory& memory, uint64_t offset, int32_t comparison, int64_t value,
                               int64_t* observed) {
  check(device_->wait_signal(word_in(memory, options_.pe, offset), comparison, value, &failure_));
  if (observed == nullptr) return;
  synchronize();
  *observed = device_->fetched();
}

void DeviceEngine::fetch_add(const SymmetricMemory& memory, uint64_t offset, int64_t delta, int32_t pe,
                             int64_t* before) {
  check_atomics(pe);
  check(device_->fetch_add(word_in(memory, pe, offset), delta, &failure_));
  if (before == nullptr) return;
  synchronize();
  *before = device_->fetched();
}

void DeviceEngine::open_beside() {
  if (beside_ != nullptr || options_.provider != "nvshmem") return;
  device_->prepare_beside();
  // So that what takes too long has been given up when those who wait for it would give up the world.
  beside_ = std::make_unique<Beside>(node_->control(), node_->pe(), *device_, options_.peer_timeout_ms / 2);
}

bool DeviceEngine::await_beside() {
  if (beside_ == nullptr) return false;
  Waiter& waiter = node_->waiter();
  waiter.set_activity("opening NCCL beside NVSHMEM");
  const auto is_known = [this] { return beside_->outcome() != Beside::Outcome::kOpen; };
  for (int32_t peer = 0; peer < node_->pes(); ++peer) {
    if (peer == node_->pe()) continue;
    waiter.until(peer, [&] { return beside_->is_done(peer) || is_known(); });
  }
  waiter.until(kNoPe, is_known);
  waiter.set_activity(nullptr);
  return beside_->outcome() == Beside::Outcome::kThere;
}

const sparkgap_device_world& DeviceEngine::device_world() const {
  if (device_->lanes() > 0) return device_->view();
  fail(SPARKGAP_UNAVAILABLE, kNoPe,
       "kernels exchange data only where every GPU addresses the memory of every other, which is so for GPUs of one "
       "host that are peers of each other (nvidia-smi topo -p2p w): use collectives");
}

Event* DeviceEngine::make_event() {
  Event* event = nullptr;
  check(device_->make_event(&event, &failure_));
  return event;
}

double DeviceEngine::elapsed_us(Event& start, Event& end) {
  double microseconds = 0;
  check(device_->elapsed_us(start, end, &microseconds, &failure_));
  return microseconds;
}

void DeviceEngine::describe(Text& text) const {
  device_->describe(text);
  if (beside_ != nullptr) beside_->describe(text);
  if (!links_.empty()) links_[static_cast<size_t>(node_of(options_.pe))].describe(text);
  if (nodes_ == nullptr) return;
  nodes_->describe(text);
  text.add("; %s's sockets are on %s", options_.provider.c_str(), interface_.name.c_str());
}

}  // namespace sparkgap
