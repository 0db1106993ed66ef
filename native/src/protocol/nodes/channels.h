// What a PE has towards the PEs of other nodes: a channel to each, over the wire.
//
// A channel carries messages one way in the order in which they were sent, one after the other into a room of the
// receiver's inbox that is for this sender alone (protocol/nodes/room.h). A sender waits while the room is full: for
// kMessagesAhead of the largest messages, or very many small ones. What the receiver has released travels with what it
// sends itself, and by a signal of its own where that is too rare.
//
//   inbox of a PE:  for each PE of another node   | Head | room |
//
// Every message carries a digest of all calls up to its own (Steps::history): a receiver that is in another call says
// so instead of taking it.
//
// Beside messages there are requests, which the receiver's side carries out as they arrive, whatever its PE does
// (protocol/nodes/requests.h), and the note that ends the world.
//
// Threads: messages belong to the thread of the PE's handle. A thread of the channels' own, the caretaker, sleeps while
// the PE is at the wire and looks after it while it is not.
#ifndef SPARKGAP_PROTOCOL_NODES_CHANNELS_H
#define SPARKGAP_PROTOCOL_NODES_CHANNELS_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "base/error.h"
#include "protocol/node.h"
#include "protocol/nodes/card.h"
#include "protocol/nodes/requests.h"
#include "protocol/nodes/room.h"
#include "protocol/pump.h"
#include "wire/wire.h"

namespace sparkgap {

class Channels final : public WireSink, public Pump {
 public:
  // A sender is held up by no fewer messages that have not been released, however large they are.
  static constexpr uint64_t kMessagesAhead = 5;
  // A message may have at least so much.
  static constexpr uint64_t kLeastMessageBytes = 4 << 10;

  // Listens. `options` outlives the channels.
  explicit Channels(const WorldOptions& options);
  ~Channels() override;
  Channels(const Channels&) = delete;
  Channels& operator=(const Channels&) = delete;

  // Fills what a card has of this PE.
  void write_card(Card* card) const;

  // Connects to all PEs of other nodes. The node outlives the channels' last use but for the destructor.
  void connect(Node& node, const NodeMap& map, const std::vector<Card>& cards, RequestHandler* handler);

  // ---- Messages

  // The largest message; the same on all PEs of a world of so many.
  static uint64_t message_bytes_for(int32_t pes);
  uint64_t message_bytes() const { return message_bytes_; }

  // `data` must stay as it is until wait_sent or flush. Waits for room.
  void send(int32_t peer, const void* data, uint64_t bytes);
  // A number for what has been sent to `peer` so far.
  uint64_t sent(int32_t peer) const { return wire_->last_put(peer); }
  // Waits until that much of it is no longer read from where it was sent from.
  void wait_sent(int32_t peer, uint64_t number);
  // The same for all that was sent to all.
  void flush();

  // Waits for the next message of `peer`, which has so many bytes, and gives its place, in which it stays until
  // release. One message of a peer at a time.
  const uint8_t* receive(int32_t peer, uint64_t bytes);
  void release(int32_t peer);

  // ---- Memory and requests

  Wire& wire() { return *wire_; }
  // Waits for room; for kFetchAdd also until the answer is there.
  void request(int32_t peer, const Request& request);
  int64_t answer_of(int32_t peer) const;
  // This PE has given back one more of its allocations.
  void tell_freed();
  // Makes attempts until the wire takes what it is given. Throws if the peer is lost; what is for one that has left is
  // for nobody.
  template <class Try>
  void insist(int32_t peer, const Try& attempt) {
    if (!attempt()) {
      bool taken = false;
      wait_for(peer, [&] { return taken = taken || attempt(); });
    }
    check_not_lost(peer);
  }
  // Waits for something that the wire brings from `peer`.
  template <class Ready>
  void wait_for(int32_t peer, const Ready& ready) {
    awaited_ = peer;
    node_->waiter().until(kNoPe, ready);
    awaited_ = kNoPe;
  }
  // Throws PEER_LOST, and ends the world, if `peer` is lost, or is no longer there for whatever reason.
  void check_not_lost(int32_t peer) {
    if (__builtin_expect(wire_->state(peer) == WireState::kLost, 0)) check_present(peer);
  }
  void check_present(int32_t peer);
  // Asks `peer` for its last calls; ends the world, and throws, if they are not this PE's.
  void compare_calls(int32_t peer);
  // Ends the world, and throws, if a PE of another node is lost, has ended its function without the call that this PE
  // is in, or, with `left_counts`, has closed its end. Any thread, with a waiter of its own.
  void check_alive(Waiter& waiter, bool left_counts);

  const char* label(int32_t pe) const { return cards_[static_cast<size_t>(pe)].label; }
  const char* describe() const { return description_.c_str(); }
  bool is_rdma() const { return wire_->is_rdma(); }
  // As Wire's.
  uint32_t refused() const { return wire_->refused(); }
  const char* first_refused() const { return wire_->first_refused(); }
  // The PEs of other nodes.
  const std::vector<int32_t>& peers() const { return peers_; }

  // Tells the PEs of other nodes that this one has done with all that they share but the wire.
  void tell_ending();
  // Whether `peer` has said so.
  bool has_told_ending(int32_t peer) const;
  bool is_there(int32_t peer) const { return wire_->state(peer) == WireState::kConnected; }
  bool is_lost(int32_t peer) const { return wire_->state(peer) == WireState::kLost; }

  // Says goodbye, and waits until the others have all that was sent to them.
  void leave();

  // ---- For waits (protocol/pump.h)
  bool pump() override;
  int32_t find_gone() override;
  [[noreturn]] void give_up_gone(int32_t pe) override { give_up_gone(node_->waiter(), pe); }
  int32_t awaited() const override { return awaited_; }
  bool has_peers() const override;
  void describe_peer(Text& text, int32_t pe) const override;
  const CallLine* calls_of(int32_t pe) override;

  void on_signal(int32_t peer, const WireSignal& signal) override;
  void on_left(int32_t peer) override;

 private:
  struct Channel;
  struct Head;

  Head& head_from(int32_t peer) const;
  uint64_t channel_offset(int32_t sender) const { return static_cast<uint64_t>(sender) * channel_bytes_; }
  WireSignal message_signal(uint32_t kind, const Channel& channel) const;
  void take_request(int32_t peer);
  void take_note(int32_t peer);
  void pay();
  void stop_connecting(int32_t missing, int64_t waited_us);
  void start_caring();
  void stop_caring();
  void care();
  bool wait_for_work();
  void tell_abort();
  void tell_finished();
  bool has_finished(const Waiter& waiter, int32_t peer) const;
  uint32_t check_of_call() const { return static_cast<uint32_t>(node_->steps().history()); }
  [[noreturn]] void give_up_gone(Waiter& waiter, int32_t pe);
  [[noreturn]] void refuse_call_of(int32_t peer);

  const WorldOptions& options_;
  const WireLimits limits_;
  uint64_t message_bytes_;
  Room room_;
  uint64_t channel_bytes_;
  uint64_t inbox_bytes_;
  uint8_t* inbox_ = nullptr;
  std::unique_ptr<Wire> wire_;
  WireMemory inbox_memory_;
  std::string description_;

  Node* node_ = nullptr;
  RequestHandler* handler_ = nullptr;
  std::vector<Card> cards_;
  std::vector<int32_t> peers_;  // of other nodes
  std::unique_ptr<Channel[]> channels_;
  int32_t awaited_ = kNoPe;

  std::atomic<bool> owes_{false};  // a request's answer, or word that requests have been carried out
  std::atomic_flag paying_ = ATOMIC_FLAG_INIT;
  bool told_abort_ = false;  // the caretaker's
  std::atomic<bool> stopping_{false};
  std::unique_ptr<struct AbortNote> note_;
  std::unique_ptr<struct FinishNote[]> finish_notes_;  // the last that were told: the caretaker's
  uint64_t told_runs_ = 0;
  int stop_descriptor_ = -1;
  std::thread caretaker_;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_NODES_CHANNELS_H
