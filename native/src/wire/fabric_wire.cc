// A FabricWire at work.
#include "wire/fabric_wire.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstring>

#include "protocol/atomics.h"

namespace sparkgap {
namespace {

constexpr int kSpins = 100;
constexpr int kCompletionsAtOnce = 16;
constexpr int64_t kLeavingPauseNs = 50000;
constexpr uint32_t kKindShift = 28;
constexpr uint32_t kSenderShift = 20;
constexpr uint32_t kSenderMask = 0xff;
constexpr uint32_t kValueMask = (1u << kWireValueBits) - 1;
static_assert(SPARKGAP_MAX_PES <= kSenderMask + 1, "a signal names its sender in 8 bits");

// WireSignal::kind of the wire's own signals, and their values.
constexpr uint32_t kEnd = 0;
enum WordOfEnd : uint32_t { kGoodbye, kFarewell };

int64_t now_ms() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000;
}

uint64_t encode(const WireSignal& signal, int32_t sender, bool carries_check) {
  const uint32_t low =
      signal.kind << kKindShift | static_cast<uint32_t>(sender) << kSenderShift | (signal.value & kValueMask);
  return carries_check ? static_cast<uint64_t>(signal.check) << 32 | low : low;
}

}  // namespace

void WireLock::lock() {
  for (int spins = 0; !try_lock(); ++spins) {
    if (spins < kSpins) {
      cpu_pause();
    } else {
      sched_yield();
    }
  }
}

FabricWire::~FabricWire() { stop_listening(); }

bool FabricWire::has_room(const Peer& peer) const {
  const uint64_t lent = peer.lent - peer.returned.load(std::memory_order_relaxed);
  return lent + (peer.staged - peer.unstaged) < options_.limits.most_in_flight;
}

bool FabricWire::is_done(int32_t peer, uint64_t put) const {
  const Peer& to = peers_[peer];
  return to.returned.load(std::memory_order_acquire) >= put || state(peer) != WireState::kConnected;
}

// Verbs asks for local memory to be registered, too. What is not exposed is registered for as long as the put takes.
// False if it cannot be.
bool FabricWire::describe_local(Peer& peer, const void* address, uint64_t bytes, void** descriptor) {
  *descriptor = nullptr;
  if ((info_->domain_attr->mr_mode & FI_MR_LOCAL) == 0) return true;
  const auto* at = static_cast<const uint8_t*>(address);
  for (const auto& [key, exposed] : exposed_) {
    if (at < exposed.address || at + bytes > exposed.address + exposed.bytes) continue;
    *descriptor = fi_mr_desc(exposed.region.get());
    return true;
  }
  const uint64_t returned = peer.returned.load(std::memory_order_relaxed);
  peer.borrowed.erase(std::remove_if(peer.borrowed.begin(), peer.borrowed.end(),
                                     [returned](const auto& region) { return region.first <= returned; }),
                      peer.borrowed.end());
  fid_mr* region = nullptr;
  if (fi_mr_reg(domain_.get(), address, bytes, FI_WRITE | FI_READ, 0, 0, 0, &region, nullptr) != 0) return false;
  peer.borrowed.emplace_back(peer.lent + 1, region);
  *descriptor = fi_mr_desc(region);
  return true;
}

bool FabricWire::stage(Peer& peer, const void** src, uint64_t bytes) {
  if (peer.staged - peer.unstaged == kStages) return false;
  uint8_t* place = peer.stages.get() + peer.staged % kStages * kStageBytes;
  std::memcpy(place, *src, bytes);
  *src = place;
  return true;
}

bool FabricWire::try_put(int32_t number, const WireMemory& to, uint64_t offset, const void* src, uint64_t bytes,
                         const WireSignal* signal) {
  Peer& peer = peers_[number];
  const bool inject = bytes <= inject_bytes_;
  const bool staged = !inject && bytes <= staged_bytes_;
  const uint64_t address = to.base + offset;
  lock_.lock();
  if (state(number) != WireState::kConnected) {
    lock_.unlock();
    return true;
  }
  ssize_t error = -FI_EAGAIN;
  fid_ep* endpoint = peer.endpoint.get();
  const uint64_t data = signal == nullptr ? 0 : encode(*signal, options_.pe, carries_check_);
  void* descriptor = nullptr;
  if (inject) {
    error = signal != nullptr ? fi_inject_writedata(endpoint, src, bytes, data, 0, address, to.key)
                              : fi_inject_write(endpoint, src, bytes, 0, address, to.key);
  } else if (has_room(peer) && (staged ? stage(peer, &src, bytes) : describe_local(peer, src, bytes, &descriptor))) {
    Operation* operation = staged ? &peer.staging : &peer.lending;
    error = signal != nullptr ? fi_writedata(endpoint, src, bytes, descriptor, data, 0, address, to.key, operation)
                              : fi_write(endpoint, src, bytes, descriptor, 0, address, to.key, operation);
  }
  if (error == 0 && !inject) ++(staged ? peer.staged : peer.lent);
  if (error != 0 && error != -FI_EAGAIN) lose(peer, text_of(error));
  lock_.unlock();
  return error != -FI_EAGAIN;
}

bool FabricWire::try_get(int32_t number, const WireMemory& from, uint64_t offset, void* dst, uint64_t bytes) {
  Peer& peer = peers_[number];
  void* descriptor = nullptr;
  lock_.lock();
  ssize_t error = -FI_EAGAIN;
  if (state(number) != WireState::kConnected) {
    error = 0;
  } else if (has_room(peer) && describe_local(peer, dst, bytes, &descriptor)) {
    error = fi_read(peer.endpoint.get(), dst, bytes, descriptor, 0, from.base + offset, from.key, &peer.lending);
    if (error == 0) ++peer.lent;
    if (error != 0 && error != -FI_EAGAIN) lose(peer, text_of(error));
  }
  lock_.unlock();
  return error != -FI_EAGAIN;
}

bool FabricWire::progress() {
  if (!lock_.try_lock()) {
    cpu_pause();
    return false;
  }
  progressed_.fetch_add(1, std::memory_order_relaxed);
  const bool moved = poll_completions();
  if (__builtin_expect(owes_farewells_, 0)) answer_goodbyes();
  lock_.unlock();
  return moved;
}

void FabricWire::look_for_losses() {
  lock_.lock();
  poll_events();
  lock_.unlock();
}

bool FabricWire::poll_completions() {
  const bool moved = drain_completions();
  if (!moved && ++idle_ % options_.limits.looks_for_loss == 0) poll_events();
  return moved;
}

bool FabricWire::drain_completions() {
  fi_cq_data_entry entries[kCompletionsAtOnce];
  bool moved = false;
  for (;;) {
    const ssize_t read = fi_cq_read(completions_.get(), entries, kCompletionsAtOnce);
    if (read == -FI_EAVAIL) {
      if (!take_completion_error()) return moved;
      continue;
    }
    if (read <= 0) break;
    moved = true;
    for (ssize_t i = 0; i < read; ++i) {
      if ((entries[i].flags & FI_REMOTE_CQ_DATA) != 0) {
        take_signal(entries[i].data);
      } else if (entries[i].op_context != nullptr) {
        count_done(*static_cast<const Operation*>(entries[i].op_context));
      }
    }
    if (read < kCompletionsAtOnce) return true;
  }
  return moved;
}

void FabricWire::count_done(const Operation& operation) {
  Peer& peer = *operation.peer;
  if (operation.is_staged) {
    ++peer.unstaged;
  } else {
    peer.returned.store(peer.returned.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
}

void FabricWire::take_signal(uint64_t data) {
  const uint32_t low = static_cast<uint32_t>(data);
  const int32_t sender = static_cast<int32_t>(low >> kSenderShift & kSenderMask);
  if (sender >= options_.pes) return;
  Peer& peer = peers_[sender];
  if (peer.endpoint == nullptr) return;
  if (needs_receives_) fi_recv(peer.endpoint.get(), nullptr, 0, nullptr, 0, nullptr);
  const WireSignal signal = {low >> kKindShift, low & kValueMask, static_cast<uint32_t>(data >> 32)};
  if (__builtin_expect(signal.kind == kEnd, 0)) return take_word_of_end(sender, signal.value);
  sink_->on_signal(sender, signal);
}

void FabricWire::take_word_of_end(int32_t from, uint32_t word) {
  Peer& peer = peers_[from];
  if (word == kFarewell) return peer.has_taken_all.store(true, std::memory_order_release);
  if (state(from) != WireState::kConnected) return;
  peer.state.store(WireState::kLeft, std::memory_order_release);
  peer.owes_farewell = owes_farewells_ = true;
  sink_->on_left(from);
}

// Not where they arrive, since the queue may be full.
void FabricWire::answer_goodbyes() {
  owes_farewells_ = false;
  const uint64_t data = encode({kEnd, kFarewell, 0}, options_.pe, carries_check_);
  for (Peer& peer : peers_) {
    if (!peer.owes_farewell) continue;
    const WireMemory& door = peer.door;
    peer.owes_farewell =
        fi_inject_writedata(peer.endpoint.get(), nullptr, 0, data, 0, door.base, door.key) == -FI_EAGAIN;
    owes_farewells_ |= peer.owes_farewell;
  }
}

// What was under way to a peer that is lost comes back as errors. False if there was none to take.
bool FabricWire::take_completion_error() {
  fi_cq_err_entry error = {};
  if (fi_cq_readerr(completions_.get(), &error, 0) <= 0) return false;
  Peer* peer = peer_of(error.op_context);
  if (peer == nullptr) return true;
  // The end of the connection says why; this only follows from it.
  poll_events();
  lose(*peer, text_of(-error.err));
  return true;
}

void FabricWire::keep_alive() {
  if (!is_rdma_) return;
  // The kernel does it for sockets (watch_sockets). A write of nothing that nobody is told of does it here.
  for (int32_t peer = 0; peer < options_.pes; ++peer) {
    if (state(peer) != WireState::kConnected) continue;
    lock_.lock();
    const WireMemory& door = peers_[peer].door;
    const ssize_t error = fi_inject_write(peers_[peer].endpoint.get(), nullptr, 0, 0, door.base, door.key);
    if (error != 0 && error != -FI_EAGAIN) lose(peers_[peer], text_of(error));
    lock_.unlock();
  }
}

// A socket that is closed with unread data, or that is sent to afterwards, takes what is still on its way to the other
// side with it. So whoever leaves stays until the others have said that they have all.
void FabricWire::leave(int64_t patience_ms) {
  const int64_t end = now_ms() + patience_ms;
  const timespec pause = {0, kLeavingPauseNs};
  for (int32_t peer = 0; peer < options_.pes; ++peer) {
    if (state(peer) != WireState::kConnected) continue;
    while (!try_signal(peer, {kEnd, kGoodbye, 0}) && now_ms() < end) progress();
  }
  const auto is_needed = [](const Peer& peer) {
    return peer.state == WireState::kConnected && !peer.has_taken_all.load(std::memory_order_acquire);
  };
  while (std::any_of(peers_.begin(), peers_.end(), is_needed) && now_ms() < end) {
    if (progress()) continue;
    look_for_losses();
    nanosleep(&pause, nullptr);
  }
}

}  // namespace sparkgap
