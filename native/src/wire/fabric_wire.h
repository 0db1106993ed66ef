// The wire by libfabric: one domain and one completion queue a PE, a connected endpoint (FI_EP_MSG) for each peer.
//
// What travels with a write (32 bits on verbs, 64 on tcp):
//
//   |  check, 32 bits (tcp only)  | kind, 4 | sender, 8 | value, 20 |
//
// Provider tcp is what this was run on. Provider verbs differs in what this class asks of `info_`: keys and addresses
// that the provider gives, local memory that has to be registered, receives that have to be posted. That was written by
// the documentation and has not been run. Nothing bounds the number of small messages on the way to that of the posted
// receives: then a card has the sender wait and send again, which tcp has no need of.
#ifndef SPARKGAP_WIRE_FABRIC_WIRE_H
#define SPARKGAP_WIRE_FABRIC_WIRE_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sparkgap/sparkgap.h"
#include "wire/fabric_library.h"
#include "wire/proof.h"
#include "wire/sockets.h"
#include "wire/wire.h"

namespace sparkgap {

// Closes what libfabric has opened.
struct FabricCloser {
  template <class Object>
  void operator()(Object* object) const {
    fi_close(&object->fid);
  }
};
template <class Object>
using FabricObject = std::unique_ptr<Object, FabricCloser>;

// Held for a microsecond or so, by the PE's thread and by whoever looks after the wire meanwhile.
class WireLock {
 public:
  bool try_lock() { return !held_.test_and_set(std::memory_order_acquire); }
  void lock();
  void unlock() { held_.clear(std::memory_order_release); }

 private:
  std::atomic_flag held_ = ATOMIC_FLAG_INIT;
};

class FabricWire final : public Wire {
 public:
  FabricWire(const WireOptions& options, WireSink* sink);
  ~FabricWire() override;

  WireContact contact() const override { return contact_; }
  const char* describe() const override { return description_.c_str(); }
  bool is_rdma() const override { return is_rdma_; }
  bool carries_check() const override { return carries_check_; }
  WireMemory expose(void* address, uint64_t bytes) override;
  void withdraw(const WireMemory& memory) override;
  void expect(int32_t peer, const WireContact& contact, const WireMemory& door) override;
  void connect_all(const uint64_t key[2], void (*stop)(void*, int32_t), void* context) override;
  uint32_t refused() const override { return refused_; }
  const char* first_refused() const override { return first_refused_.c_str(); }
  bool try_put(int32_t peer, const WireMemory& to, uint64_t offset, const void* src, uint64_t bytes,
               const WireSignal* signal) override;
  bool try_signal(int32_t peer, const WireSignal& signal) override {
    return try_put(peer, peers_[peer].door, 0, nullptr, 0, &signal);
  }
  bool try_get(int32_t peer, const WireMemory& from, uint64_t offset, void* dst, uint64_t bytes) override;
  uint64_t last_put(int32_t peer) const override { return peers_[peer].lent; }
  bool is_done(int32_t peer, uint64_t put) const override;
  bool progress() override;
  void look_for_losses() override;
  uint64_t progressed() const override { return progressed_.load(std::memory_order_relaxed); }
  int descriptor() const override { return descriptor_; }
  void keep_alive() override;
  void leave(int64_t patience_ms) override;
  WireState state(int32_t peer) const override { return peers_[peer].state.load(std::memory_order_acquire); }
  const char* why_lost(int32_t peer) const override { return peers_[peer].why; }

 private:
  struct Peer;
  // What an operation that completes says then.
  struct Operation {
    Peer* peer;
    bool is_staged;
  };
  struct Peer {
    std::atomic<WireState> state{WireState::kAbsent};
    WireContact contact = {};
    WireMemory door;
    std::unique_ptr<uint8_t[]> stages;  // what the endpoint may still read
    FabricObject<fid_ep> endpoint;
    Proof answer = {};  // what the accepting side has to prove
    // What was put or got so far and completes, of that what uses memory of the caller's.
    uint64_t lent = 0;
    std::atomic<uint64_t> returned{0};
    // And what was copied, one after the other into kStages places over and over.
    uint64_t staged = 0;
    uint64_t unstaged = 0;  // are done
    Operation lending{this, false};
    Operation staging{this, true};
    bool owes_farewell = false;              // has said goodbye and is not answered yet
    std::atomic<bool> has_taken_all{false};  // has answered this PE's goodbye
    const char* why = "";
    // Verbs: local memory that is registered for one put, until that is done.
    std::vector<std::pair<uint64_t, FabricObject<fid_mr>>> borrowed;
  };
  // A handshake's data: what a connection request carries, and what the answer to it does.
  struct Request {
    int32_t from;
    int32_t to;
    uint64_t nonce;
    Proof proof;
  };

  FabricInfo find_provider(const std::string& address, int32_t port) const;
  void listen_on(const std::string& address);
  [[noreturn]] void fail_to_listen(const std::string& address, int error) const;
  void open_domain();
  FabricObject<fid_ep> open_endpoint(struct fi_info* info, int32_t peer);
  void dial(int32_t peer, const uint64_t key[2]);
  void take_requests(const uint64_t key[2]);
  void take_request(struct fi_eq_cm_entry* entry, size_t data_bytes, const uint64_t key[2]);
  void refuse(struct fi_info* info);
  void stop_listening();
  std::vector<SocketEnds> connections() const;
  int32_t missing_peer() const;
  void poll_events();
  void take_event(uint32_t event, const struct fi_eq_cm_entry& entry, size_t data_bytes);
  void take_answer(Peer& peer, const uint8_t* data, size_t bytes);
  void take_event_error();
  bool poll_completions();
  bool drain_completions();
  void take_signal(uint64_t data);
  void take_word_of_end(int32_t from, uint32_t word);
  void answer_goodbyes();
  bool take_completion_error();
  void lose(Peer& peer, const char* why);
  Peer* peer_of(const void* context);
  void count_done(const Operation& operation);
  // Of a negative errno, as libfabric returns them.
  const char* text_of(int64_t error) const { return library_.functions().error_text(static_cast<int>(-error)); }
  void check(int error, const char* what) const;
  bool describe_local(Peer& peer, const void* address, uint64_t bytes, void** descriptor);
  bool has_room(const Peer& peer) const;
  // Copies what is put to where it may stay. False if what was copied before still takes all places.
  static bool stage(Peer& peer, const void** src, uint64_t bytes);

  // Small puts are copied, where the caller would otherwise have to ask the kernel whether they are done.
  static constexpr uint64_t kStageBytes = 4096;
  static constexpr uint64_t kStages = 32;

  WireOptions options_;
  WireSink* sink_;
  FabricLibrary library_;
  WireContact contact_ = {};
  std::string description_;
  bool is_rdma_ = false;
  bool carries_check_ = false;
  bool needs_receives_ = false;
  uint64_t inject_bytes_ = 0;
  uint64_t staged_bytes_ = 0;
  int descriptor_ = -1;

  // In the order in which they are opened; closed the other way round.
  FabricInfo info_;
  FabricObject<fid_fabric> fabric_;
  FabricObject<fid_eq> events_;
  FabricObject<fid_eq> requests_;  // of the listener: gone when all are connected
  FabricObject<fid_pep> listener_;
  FabricObject<fid_domain> domain_;
  FabricObject<fid_cq> completions_;
  struct Exposed {
    const uint8_t* address;
    uint64_t bytes;
    FabricObject<fid_mr> region;
  };
  std::map<uint64_t, Exposed> exposed_;  // by key
  std::vector<Peer> peers_;

  WireLock lock_;
  std::atomic<uint64_t> progressed_{0};
  uint32_t idle_ = 0;
  bool owes_farewells_ = false;
  uint32_t refused_ = 0;
  std::string first_refused_;
};

}  // namespace sparkgap

#endif  // SPARKGAP_WIRE_FABRIC_WIRE_H
