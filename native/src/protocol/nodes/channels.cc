// What goes through channels. Their making and end, and the caretaker: channels_care.cc.
#include "protocol/nodes/channels.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/clock.h"
#include "protocol/abort.h"
#include "protocol/call.h"
#include "protocol/nodes/channel.h"

namespace sparkgap {
namespace {

// Messages of few PEs are as large as serves a pipeline; those of many share what an inbox has.
constexpr uint64_t kMostMessageBytes = 128 << 10;
constexpr uint64_t kMessagesOfAllBytes = 1 << 20;

// What a free waits for the wire to take word of it; without that the peer's memory only stays until its end.
constexpr int64_t kFreedPatienceUs = 1000000;
constexpr uint32_t kCountBits = 12;
constexpr uint32_t kCountMask = (1u << kCountBits) - 1;
static_assert(Room::kLargestMessages * kMostMessageBytes / Room::kUnitBytes <= kCountMask,
              "how much of a room is released travels in a count");

// Counts travel without their upper bits; they grow by less than those bits hold between two words of them.
uint64_t grown(uint64_t known, uint32_t low) { return known + ((low - static_cast<uint32_t>(known)) & kCountMask); }

WireLimits limits_for(const WorldOptions& options) {
  WireLimits limits;
  limits.dead_after_ms = std::min(limits.dead_after_ms, options.peer_timeout_ms);
  return limits;
}

}  // namespace

uint64_t Channels::message_bytes_for(int32_t pes) {
  const uint64_t share = kMessagesOfAllBytes / static_cast<uint64_t>(std::max(1, pes - 1));
  return std::clamp(share / kPageBytes * kPageBytes, kLeastMessageBytes, kMostMessageBytes);
}

Channels::Channels(const WorldOptions& options)
    : options_(options),
      limits_(limits_for(options)),
      message_bytes_(message_bytes_for(options.pes)),
      room_(message_bytes_),
      channel_bytes_((sizeof(Head) + room_.bytes() + kPageBytes - 1) / kPageBytes * kPageBytes),
      inbox_bytes_(channel_bytes_ * static_cast<uint64_t>(options.pes)),
      channels_(std::make_unique<Channel[]>(static_cast<size_t>(options.pes))) {
  static_assert(sizeof(Head) == kPageBytes, "a channel's head is a page");
  WireOptions wire;
  wire.pe = options.pe;
  wire.pes = options.pes;
  wire.epoch = options.epoch;
  wire.kind = options.wire;
  wire.address = options.wire_address;
  wire.ports = options.wire_ports;
  wire.library = options.fabric_library;
  wire.limits = limits_;
  wire_ = Wire::listen(wire, this);
  // Channels of PEs of this node are never touched, and take no memory.
  void* memory =
      mmap(nullptr, inbox_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    fail(SPARKGAP_OUT_OF_MEMORY, kNoPe, "no %llu bytes for what comes from PEs of other hosts",
         static_cast<unsigned long long>(inbox_bytes_));
  }
  inbox_ = static_cast<uint8_t*>(memory);
  inbox_memory_ = wire_->expose(inbox_, inbox_bytes_);
  finish_notes_ = std::make_unique<FinishNote[]>(kFinishNotes);
  description_ = wire_->describe();
}

Channels::~Channels() {
  stop_caring();
  wire_.reset();
  if (inbox_ != nullptr) munmap(inbox_, inbox_bytes_);
}

void Channels::write_card(Card* card) const {
  card->contact = wire_->contact();
  card->inbox = inbox_memory_;
  card->is_rdma = wire_->is_rdma() ? 1 : 0;
}

void Channels::connect(Node& node, const NodeMap& map, const std::vector<Card>& cards, RequestHandler* handler) {
  node_ = &node;
  handler_ = handler;
  cards_ = cards;
  for (int32_t pe = 0; pe < options_.pes; ++pe) {
    if (map.is_near(pe)) continue;
    const Card& card = cards_[static_cast<size_t>(pe)];
    if (card.inbox.bytes != inbox_bytes_) {
      fail(SPARKGAP_UNAVAILABLE, pe, "PE %d's memory for others is laid out otherwise: use one plugin jar everywhere",
           pe);
    }
    channels_[static_cast<size_t>(pe)].inbox = card.inbox;
    channels_[static_cast<size_t>(pe)].checks = std::make_unique<uint32_t[]>(room_.units());
    peers_.push_back(pe);
    WireMemory door = card.inbox;
    door.base += channel_offset(options_.pe);
    wire_->expect(pe, card.contact, door);
  }
  struct Patience {
    Channels& channels;
    int64_t start;
  } patience = {*this, now_us()};
  wire_->connect_all(
      cards_.front().key,
      [](void* context, int32_t missing) {
        const Patience& waiting = *static_cast<const Patience*>(context);
        waiting.channels.stop_connecting(missing, now_us() - waiting.start);
      },
      &patience);
  node.waiter().set_pump(this);
  start_caring();
}

void Channels::stop_connecting(int32_t missing, int64_t waited_us) {
  if (is_aborted(node_->control())) fail_as_aborted(node_->control(), node_->world_pe(node_->pe()));
  if (waited_us < options_.peer_timeout_ms * 1000) return;
  Failure failure;
  failure.status = SPARKGAP_TIMED_OUT;
  failure.pe = missing;
  Text text(failure.message, sizeof failure.message);
  text.add("connect on PE %d waited ", node_->world_pe(node_->pe())).add_seconds(waited_us).add(" for ");
  describe_peer(text, missing);
  text.add(
      " over %s. Can that host be reached from here, on the ports of spark.sparkgap.wire.ports? The limit is %lld "
      "ms (spark.sparkgap.peer.timeout)",
      wire_->describe(), static_cast<long long>(options_.peer_timeout_ms));
  node_->waiter().give_up(failure);
}

Channels::Head& Channels::head_from(int32_t peer) const {
  return *reinterpret_cast<Head*>(inbox_ + channel_offset(peer));
}

// ---- Messages

WireSignal Channels::message_signal(uint32_t kind, const Channel& channel) const {
  const uint32_t check = check_of_call();
  const uint32_t count = static_cast<uint32_t>(channel.released) & kCountMask;
  return {kind, count | (check & 0xff) << kCountBits, check};
}

void Channels::send(int32_t peer, const void* data, uint64_t bytes) {
  Channel& channel = channels_[static_cast<size_t>(peer)];
  const uint64_t end = room_.end(channel.sent, bytes);
  const auto has_room = [&] { return room_.has(end, channel.released_there.load(std::memory_order_acquire)); };
  if (!has_room()) wait_for(peer, has_room);
  const WireSignal signal = message_signal(kMessage, channel);
  const uint64_t offset = channel_offset(options_.pe) + sizeof(Head) + room_.offset(room_.begin(channel.sent, bytes));
  insist(peer, [&] { return wire_->try_put(peer, channel.inbox, offset, data, bytes, &signal); });
  channel.sent = end;
  channel.told.store(channel.released, std::memory_order_relaxed);
}

void Channels::wait_sent(int32_t peer, uint64_t number) {
  if (!wire_->is_done(peer, number)) wait_for(peer, [&] { return wire_->is_done(peer, number); });
  check_not_lost(peer);
}

void Channels::flush() {
  for (const int32_t peer : peers_) {
    if (!wire_->is_done(peer, wire_->last_put(peer))) wait_sent(peer, wire_->last_put(peer));
  }
}

const uint8_t* Channels::receive(int32_t peer, uint64_t bytes) {
  Channel& channel = channels_[static_cast<size_t>(peer)];
  const uint64_t number = channel.received;
  const auto has_arrived = [&] { return channel.arrived.load(std::memory_order_acquire) > number; };
  if (!has_arrived()) wait_for(peer, has_arrived);
  const uint32_t mine = check_of_call();
  const uint32_t theirs = channel.checks[number % room_.units()];
  if (__builtin_expect(theirs != (wire_->carries_check() ? mine : mine & 0xff), 0)) refuse_call_of(peer);
  channel.received = number + 1;
  channel.in_hand = room_.end(channel.released, bytes);
  return inbox_ + channel_offset(peer) + sizeof(Head) + room_.offset(room_.begin(channel.released, bytes));
}

void Channels::release(int32_t peer) {
  Channel& channel = channels_[static_cast<size_t>(peer)];
  channel.released = channel.in_hand;
  if (!room_.is_to_be_told(channel.released, channel.told.load(std::memory_order_relaxed))) return;
  // Of no interest to a PE that has left.
  const WireSignal signal = message_signal(kReleased, channel);
  bool taken = false;
  if (!wire_->try_signal(peer, signal))
    wait_for(peer, [&] { return taken = taken || wire_->try_signal(peer, signal); });
  channel.told.store(channel.released, std::memory_order_relaxed);
}

void Channels::compare_calls(int32_t peer) {
  CallDifference difference;
  const CallLine* calls = calls_of(peer);
  if (calls == nullptr || !find_difference(node_->control().call_line(node_->pe()), *calls, &difference)) return;
  Failure failure;
  failure.status = SPARKGAP_MISMATCH;
  failure.pe = peer;
  Text text(failure.message, sizeof failure.message);
  describe_difference(text, {options_.pe, options_.label.c_str()}, {peer, label(peer)}, difference);
  node_->waiter().give_up(failure);
}

void Channels::refuse_call_of(int32_t peer) {
  compare_calls(peer);
  // It is too far ahead for its call of this number to be known still, or does not answer.
  Failure failure;
  failure.status = SPARKGAP_MISMATCH;
  failure.pe = peer;
  Text text(failure.message, sizeof failure.message);
  text.add("PEs made different calls: ");
  node_->waiter().describe_own_call(text);
  text.add(", but what ");
  describe_peer(text, peer);
  text.add(" sent is of another call; every PE must make the same collective calls in the same order");
  node_->waiter().give_up(failure);
}

// ---- Requests

void Channels::request(int32_t peer, const Request& request) {
  Channel& channel = channels_[static_cast<size_t>(peer)];
  const auto has_room = [&] {
    return channel.requests_sent - channel.requests_done_there.load(std::memory_order_acquire) < kRequests;
  };
  if (!has_room()) wait_for(peer, has_room);
  const uint64_t answered = channel.answers.load(std::memory_order_relaxed);
  const WireSignal signal = {kRequest, 0, 0};
  const uint64_t offset =
      channel_offset(options_.pe) + offsetof(Head, requests) + channel.requests_sent % kRequests * sizeof(Request);
  insist(peer, [&] { return wire_->try_put(peer, channel.inbox, offset, &request, sizeof request, &signal); });
  ++channel.requests_sent;
  wait_sent(peer, wire_->last_put(peer));
  if (request.kind != RequestKind::kFetchAdd) return;
  check_present(peer);
  wait_for(peer, [&] { return channel.answers.load(std::memory_order_acquire) != answered; });
}

int64_t Channels::answer_of(int32_t peer) const { return head_from(peer).answer; }

void Channels::tell_freed() {
  if (is_aborted(node_->control())) return;
  const int64_t end = now_us() + kFreedPatienceUs;
  for (const int32_t peer : peers_) {
    while (!wire_->try_signal(peer, {kFreed, 0, 0}) && now_us() < end) pump();
  }
}

void Channels::take_request(int32_t peer) {
  Channel& channel = channels_[static_cast<size_t>(peer)];
  const uint64_t number = channel.requests_done.load(std::memory_order_relaxed);
  Request request;
  std::memcpy(&request, &head_from(peer).requests[number % kRequests], sizeof request);
  int64_t before = 0;
  if (!handler_->carry_out(request, &before)) {
    Failure failure;
    failure.status = SPARKGAP_MISMATCH;
    failure.pe = peer;
    Text text(failure.message, sizeof failure.message);
    describe_peer(text, peer);
    text.add(" signalled a word that is in no symmetric buffer of PE %d", node_->world_pe(node_->pe()));
    abort_world(node_->control(), node_->world_pe(node_->pe()), failure);
    return;
  }
  channel.requests_done.store(number + 1, std::memory_order_release);
  if (request.kind == RequestKind::kFetchAdd) {
    channel.answer = before;
    channel.owes_answer.store(true, std::memory_order_release);
    owes_.store(true, std::memory_order_release);
  } else if (number + 1 - channel.requests_told.load(std::memory_order_relaxed) >= kRequests / 2) {
    owes_.store(true, std::memory_order_release);
  }
}

// Not from on_signal, which is called with the wire's lock held.
void Channels::pay() {
  if (paying_.test_and_set(std::memory_order_acquire)) return;
  owes_.store(false, std::memory_order_relaxed);
  bool all = true;
  for (const int32_t peer : peers_) {
    Channel& channel = channels_[static_cast<size_t>(peer)];
    if (channel.owes_answer.load(std::memory_order_acquire)) {
      const uint64_t offset = channel_offset(options_.pe) + offsetof(Head, answer);
      const WireSignal signal = {kAnswer, 0, 0};
      const bool paid = wire_->try_put(peer, channel.inbox, offset, &channel.answer, sizeof channel.answer, &signal);
      if (paid) channel.owes_answer.store(false, std::memory_order_relaxed);
      all &= paid;
    }
    if (channel.owes_calls.load(std::memory_order_acquire)) {
      channel.calls = copy_calls(node_->control().call_line(node_->pe()));
      const uint64_t offset = channel_offset(options_.pe) + offsetof(Head, calls);
      const WireSignal signal = {kCalls, 0, 0};
      const bool paid = wire_->try_put(peer, channel.inbox, offset, &channel.calls, sizeof channel.calls, &signal);
      if (paid) channel.owes_calls.store(false, std::memory_order_relaxed);
      all &= paid;
    }
    const uint64_t done = channel.requests_done.load(std::memory_order_acquire);
    if (done - channel.requests_told.load(std::memory_order_relaxed) >= kRequests / 2) {
      const bool paid = wire_->try_signal(peer, {kRequestsDone, static_cast<uint32_t>(done) & kCountMask, 0});
      if (paid) channel.requests_told.store(done, std::memory_order_relaxed);
      all &= paid;
    }
  }
  if (!all) owes_.store(true, std::memory_order_relaxed);
  paying_.clear(std::memory_order_release);
}

// ---- What arrives

void Channels::on_signal(int32_t peer, const WireSignal& signal) {
  Channel& channel = channels_[static_cast<size_t>(peer)];
  switch (signal.kind) {
    case kMessage: {
      const uint64_t number = channel.arrived.load(std::memory_order_relaxed);
      channel.released_there.store(grown(channel.released_there.load(std::memory_order_relaxed), signal.value),
                                   std::memory_order_release);
      channel.checks[number % room_.units()] = wire_->carries_check() ? signal.check : signal.value >> kCountBits;
      channel.arrived.store(number + 1, std::memory_order_release);
      break;
    }
    case kReleased:
      channel.released_there.store(grown(channel.released_there.load(std::memory_order_relaxed), signal.value),
                                   std::memory_order_release);
      break;
    case kRequest:
      take_request(peer);
      break;
    case kRequestsDone:
      channel.requests_done_there.store(
          grown(channel.requests_done_there.load(std::memory_order_relaxed), signal.value), std::memory_order_release);
      break;
    case kAnswer:
      channel.answers.fetch_add(1, std::memory_order_release);
      break;
    case kAskCalls:
      channel.owes_calls.store(true, std::memory_order_release);
      owes_.store(true, std::memory_order_release);
      break;
    case kCalls:
      channel.calls_told.fetch_add(1, std::memory_order_release);
      break;
    case kFreed:
      handler_->on_freed(peer);
      break;
    case kNote:
      take_note(peer);
      break;
    case kFinished: {
      FinishNote note;
      std::memcpy(&note, &head_from(peer).finished, sizeof note);
      channel.last_of_run.store(note.last_of_run, std::memory_order_relaxed);
      channel.runs.store(note.runs, std::memory_order_release);
      break;
    }
    case kEnding:
      channel.ending.store(true, std::memory_order_release);
      break;
    default:
      break;
  }
  wake_sleepers(node_->control().header());
}

void Channels::on_left(int32_t) { wake_sleepers(node_->control().header()); }

void Channels::take_note(int32_t peer) {
  AbortNote note;
  std::memcpy(&note, &head_from(peer).note, sizeof note);
  note.label[sizeof note.label - 1] = '\0';
  note.reason[sizeof note.reason - 1] = '\0';
  Failure failure;
  failure.status = note.status;
  failure.pe = note.subject;
  Text(failure.message, sizeof failure.message).add("%s", note.reason);
  abort_world_as(node_->control(), note.by, note.label, failure);
}

}  // namespace sparkgap
