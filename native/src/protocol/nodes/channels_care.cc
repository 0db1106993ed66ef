// What channels do beside messages: keep waits going, look after the wire while the PE is away, end.
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <memory>

#include "base/clock.h"
#include "protocol/abort.h"
#include "protocol/nodes/channel.h"
#include "protocol/nodes/channels.h"

namespace sparkgap {
namespace {

// While the PE is at the wire itself, the caretaker looks whether it still is; then it sleeps until something comes.
constexpr int64_t kDozeNs = 1000000;
constexpr int kSleepMs = 10;
constexpr int kMostFruitless = 16;
// For what a peer is asked only to be named in an error.
constexpr int64_t kAskedPatienceUs = 2000000;

void doze() {
  const timespec time = {0, kDozeNs};
  nanosleep(&time, nullptr);
}

}  // namespace

// ---- For waits

bool Channels::pump() {
  const bool moved = wire_->progress();
  if (__builtin_expect(owes_.load(std::memory_order_relaxed), 0)) pay();
  return moved;
}

int32_t Channels::find_gone() {
  wire_->look_for_losses();
  for (const int32_t peer : peers_) {
    const WireState state = wire_->state(peer);
    if (state == WireState::kLost) return peer;
    if (peer == awaited_ && (state == WireState::kLeft || has_finished(node_->waiter(), peer))) return peer;
  }
  return kNoPe;
}

bool Channels::has_peers() const {
  for (const int32_t peer : peers_) {
    if (wire_->state(peer) == WireState::kConnected) return true;
  }
  return false;
}

void Channels::check_present(int32_t peer) {
  const WireState state = wire_->state(peer);
  if (__builtin_expect(state == WireState::kConnected, 1)) return;
  if (is_aborted(node_->control())) fail_as_aborted(node_->control(), node_->world_pe(node_->pe()));
  give_up_gone(peer);
}

void Channels::describe_peer(Text& text, int32_t pe) const {
  const Card& card = cards_[static_cast<size_t>(pe)];
  text.add("PE %d (%s, on %s)", pe, card.label, card.host);
}

const CallLine* Channels::calls_of(int32_t peer) {
  Channel& channel = channels_[static_cast<size_t>(peer)];
  const uint64_t told = channel.calls_told.load(std::memory_order_acquire);
  const auto is_there = [&] { return channel.calls_told.load(std::memory_order_acquire) != told; };
  const int64_t end = now_us() + kAskedPatienceUs;
  bool asked = false;
  while (!is_there() && now_us() < end && wire_->state(peer) == WireState::kConnected) {
    asked = asked || wire_->try_signal(peer, {kAskCalls, 0, 0});
    pump();
  }
  return is_there() ? &head_from(peer).calls : nullptr;
}

void Channels::check_alive(Waiter& waiter, bool left_counts) {
  for (const int32_t peer : peers_) {
    const WireState state = wire_->state(peer);
    const bool gone =
        state == WireState::kLost || (left_counts && state == WireState::kLeft) || has_finished(waiter, peer);
    if (gone && !is_aborted(node_->control())) give_up_gone(waiter, peer);
  }
}

bool Channels::has_finished(const Waiter& waiter, int32_t peer) const {
  const Channel& channel = channels_[static_cast<size_t>(peer)];
  const uint64_t runs = channel.runs.load(std::memory_order_acquire);
  return waiter.is_beyond(runs, channel.last_of_run.load(std::memory_order_relaxed));
}

void Channels::give_up_gone(Waiter& waiter, int32_t peer) {
  if (wire_->state(peer) == WireState::kConnected) {
    char who[kMaxMessageBytes];
    Text text(who, sizeof who);
    describe_peer(text, peer);
    waiter.give_up_finished(peer, who, channels_[static_cast<size_t>(peer)].last_of_run.load());
  }
  Failure failure;
  failure.status = SPARKGAP_PEER_LOST;
  failure.pe = peer;
  Text text(failure.message, sizeof failure.message);
  waiter.describe_own_call(text);
  text.add(": ");
  describe_peer(text, peer);
  if (wire_->state(peer) == WireState::kLeft) {
    text.add(" has closed its end of the world");
  } else {
    text.add(" is lost: %s. See that executor's log, and whether its host is there and reached", wire_->why_lost(peer));
  }
  waiter.give_up(failure);
}

// ---- The caretaker

void Channels::start_caring() {
  stop_descriptor_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  // Signals are the JVM's.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  caretaker_ = std::thread([this] { care(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(caretaker_.native_handle(), "sparkgap-wire");
}

void Channels::stop_caring() {
  if (caretaker_.joinable()) {
    stopping_.store(true, std::memory_order_release);
    const uint64_t one = 1;
    if (write(stop_descriptor_, &one, sizeof one) != sizeof one) {
      // The caretaker then notices within its sleep.
    }
    caretaker_.join();
  }
  if (stop_descriptor_ >= 0) close(stop_descriptor_);
  stop_descriptor_ = -1;
}

void Channels::care() {
  const int64_t keepalive_us = limits_.keepalive_ms * 1000;
  uint64_t seen = wire_->progressed();
  int64_t next_keepalive = now_us() + keepalive_us;
  int fruitless = 0;
  while (!stopping_.load(std::memory_order_acquire)) {
    const bool pe_is_here = wire_->progressed() != seen;
    if (pe_is_here) {
      doze();
      seen = wire_->progressed();
    } else {
      const bool woken = wait_for_work();
      fruitless = pump() || !woken ? 0 : fruitless + 1;
      wire_->look_for_losses();
      seen = wire_->progressed();
      // What is readable and yet brings nothing is not to be waited for.
      if (fruitless > kMostFruitless) doze();
    }
    if (is_aborted(node_->control())) {
      tell_abort();
    } else {
      tell_finished();
    }
    if (now_us() >= next_keepalive) {
      wire_->keep_alive();
      next_keepalive = now_us() + keepalive_us;
    }
  }
}

// True if something woke it.
bool Channels::wait_for_work() {
  pollfd work[2] = {{stop_descriptor_, POLLIN, 0}, {wire_->descriptor(), POLLIN, 0}};
  return poll(work, wire_->descriptor() < 0 ? 1 : 2, kSleepMs) > 0;
}

// To those who wait for a call that this PE will not make.
void Channels::tell_finished() {
  const CallLine& own = node_->control().call_line(node_->pe());
  const uint64_t runs = load_acquire(&own.runs);
  if (runs == told_runs_) return;
  told_runs_ = runs;
  FinishNote& note = finish_notes_[runs % kFinishNotes];
  note = {runs, load_relaxed(&own.last_of_run)};
  const WireSignal signal = {kFinished, 0, 0};
  const int64_t end = now_us() + limits_.linger_ms * 1000;
  const uint64_t offset = channel_offset(options_.pe) + offsetof(Head, finished);
  for (const int32_t peer : peers_) {
    const WireMemory& inbox = channels_[static_cast<size_t>(peer)].inbox;
    while (!wire_->try_put(peer, inbox, offset, &note, sizeof note, &signal) && now_us() < end) wire_->progress();
  }
}

// Every PE of this node tells all of the others: whoever hears it first ends its waits.
void Channels::tell_abort() {
  if (told_abort_) return;
  const ControlHeader& header = node_->control().header();
  if (load_acquire(&header.abort_state) != kAborted) return;
  told_abort_ = true;
  static_assert(sizeof(AbortNote) <= kPageBytes, "a note fits its place");
  auto note = std::make_unique<AbortNote>();
  note->status = header.abort.status;
  note->by = header.abort.by;
  note->subject = header.abort.subject;
  std::memcpy(note->label, header.abort.label, sizeof note->label);
  std::memcpy(note->reason, header.abort.reason, sizeof note->reason);
  const WireSignal signal = {kNote, 0, 0};
  const int64_t end = now_us() + limits_.linger_ms * 1000;
  const uint64_t offset = channel_offset(options_.pe);
  for (const int32_t peer : peers_) {
    const WireMemory& inbox = channels_[static_cast<size_t>(peer)].inbox;
    while (!wire_->try_put(peer, inbox, offset, note.get(), sizeof *note, &signal) && now_us() < end) wire_->progress();
  }
  for (const int32_t peer : peers_) {
    while (!wire_->is_done(peer, wire_->last_put(peer)) && now_us() < end) wire_->progress();
  }
  // It may still be on its way to a host that does not answer.
  note_ = std::move(note);
}

void Channels::tell_ending() {
  const int64_t end = now_us() + limits_.linger_ms * 1000;
  for (const int32_t peer : peers_) {
    while (!wire_->try_signal(peer, {kEnding, 0, 0}) && now_us() < end) pump();
  }
}

bool Channels::has_told_ending(int32_t peer) const {
  return channels_[static_cast<size_t>(peer)].ending.load(std::memory_order_acquire);
}

void Channels::leave() {
  if (node_ == nullptr || !caretaker_.joinable()) return;
  stop_caring();
  const bool aborted = is_aborted(node_->control());
  if (aborted) tell_abort();
  node_->waiter().set_pump(nullptr);
  // Of a world that has ended only the word of it is worth waiting for: perhaps a host is gone that is not missed yet.
  wire_->leave(aborted ? limits_.linger_ms : limits_.dead_after_ms);
}

}  // namespace sparkgap
