// How a FabricWire's connections come about, and end.
#include <arpa/inet.h>
#include <time.h>

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "wire/fabric_wire.h"

namespace sparkgap {
namespace {

constexpr int64_t kPauseNs = 50000;
constexpr int kPollsBetweenStops = 20;

// Events carry what the other side sent along behind them.
struct EventRoom {
  alignas(fi_eq_cm_entry) uint8_t bytes[sizeof(fi_eq_cm_entry) + 256];
  fi_eq_cm_entry& entry() { return *reinterpret_cast<fi_eq_cm_entry*>(bytes); }
};

size_t data_bytes_of(ssize_t read) {
  const ssize_t data = read - static_cast<ssize_t>(sizeof(fi_eq_cm_entry));
  return data > 0 ? static_cast<size_t>(data) : 0;
}

void pause_between_polls() {
  const timespec time = {0, kPauseNs};
  nanosleep(&time, nullptr);
}

std::string address_text(const void* address, size_t bytes) {
  char text[INET6_ADDRSTRLEN] = "an unknown address";
  const auto* any = static_cast<const sockaddr*>(address);
  if (any != nullptr && any->sa_family == AF_INET && bytes >= sizeof(sockaddr_in)) {
    inet_ntop(AF_INET, &static_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
  } else if (any != nullptr && any->sa_family == AF_INET6 && bytes >= sizeof(sockaddr_in6)) {
    inet_ntop(AF_INET6, &static_cast<const sockaddr_in6*>(address)->sin6_addr, text, sizeof text);
  }
  return text;
}

void set_port(void* address, uint16_t port) {
  auto* any = static_cast<sockaddr*>(address);
  if (any->sa_family == AF_INET) {
    static_cast<sockaddr_in*>(address)->sin_port = port;
  } else {
    static_cast<sockaddr_in6*>(address)->sin6_port = port;
  }
}

}  // namespace

void FabricWire::expect(int32_t peer, const WireContact& contact, const WireMemory& door) {
  if (contact.address_bytes < sizeof(sockaddr_in) || contact.address_bytes > sizeof contact.address) {
    fail(SPARKGAP_INVALID_ARGUMENT, peer, "the card of PE %d has no address", peer);
  }
  peers_[peer].contact = contact;
  peers_[peer].door = door;
  peers_[peer].state = WireState::kConnecting;
}

void FabricWire::connect_all(const uint64_t key[2], void (*stop)(void*, int32_t), void* context) {
  for (int32_t peer = 0; peer < options_.pe; ++peer) {
    if (state(peer) == WireState::kConnecting) dial(peer, key);
  }
  for (int polls = 0;; ++polls) {
    take_requests(key);
    lock_.lock();
    poll_events();
    lock_.unlock();
    const int32_t missing = missing_peer();
    if (missing == kNoPe) break;
    if (state(missing) == WireState::kLost) {
      fail(SPARKGAP_PEER_LOST, missing, "PE %d cannot be connected to over %s: %s", missing, describe(),
           why_lost(missing));
    }
    if (polls % kPollsBetweenStops == 0) stop(context, missing);
    pause_between_polls();
  }
  stop_listening();
  watch_sockets(connections(), options_.limits.keepalive_ms, options_.limits.dead_after_ms);
}

int32_t FabricWire::missing_peer() const {
  int32_t missing = kNoPe;
  for (int32_t peer = options_.pes - 1; peer >= 0; --peer) {
    const WireState now = state(peer);
    if (now == WireState::kLost) return peer;
    if (now == WireState::kConnecting) missing = peer;
  }
  return missing;
}

FabricObject<fid_ep> FabricWire::open_endpoint(struct fi_info* info, int32_t peer) {
  fid_ep* opened = nullptr;
  check(fi_endpoint(domain_.get(), info, &opened, &peers_[peer]), "endpoint");
  FabricObject<fid_ep> endpoint(opened);
  check(fi_ep_bind(opened, &events_->fid, 0), "endpoint with events");
  check(fi_ep_bind(opened, &completions_->fid, FI_TRANSMIT | FI_RECV), "endpoint with completions");
  check(fi_enable(opened), "endpoint that is enabled");
  if (staged_bytes_ > 0) peers_[peer].stages.reset(new uint8_t[kStages * kStageBytes]);
  for (uint64_t i = 0; needs_receives_ && i < 2 * options_.limits.most_in_flight; ++i) {
    check(static_cast<int>(fi_recv(opened, nullptr, 0, nullptr, 0, nullptr)), "receive");
  }
  return endpoint;
}

void FabricWire::dial(int32_t number, const uint64_t key[2]) {
  Peer& peer = peers_[number];
  const FabricInfo info = library_.duplicate(info_.get());
  if (info == nullptr) fail(SPARKGAP_INTERNAL, kNoPe, "libfabric has no memory");
  set_port(info->src_addr, 0);
  info->dest_addr = malloc(peer.contact.address_bytes);
  if (info->dest_addr == nullptr) fail(SPARKGAP_INTERNAL, kNoPe, "no memory for an address");
  std::memcpy(info->dest_addr, peer.contact.address, peer.contact.address_bytes);
  info->dest_addrlen = peer.contact.address_bytes;

  Request request = {};
  request.from = options_.pe;
  request.to = number;
  fill_randomly(&request.nonce, sizeof request.nonce);
  const ProofSubject subject = {options_.epoch, peer.contact.nonce, request.nonce, request.from, request.to};
  request.proof = prove(key, ProofRole::kConnects, subject);
  peer.answer = prove(key, ProofRole::kAccepts, subject);
  peer.endpoint = open_endpoint(info.get(), number);
  const int error = fi_connect(peer.endpoint.get(), peer.contact.address, &request, sizeof request);
  if (error != 0) lose(peer, text_of(error));
}

void FabricWire::take_requests(const uint64_t key[2]) {
  EventRoom room;
  for (;;) {
    uint32_t event = 0;
    const ssize_t read = fi_eq_read(requests_.get(), &event, room.bytes, sizeof room.bytes, 0);
    if (read == -FI_EAVAIL) {
      fi_eq_err_entry error = {};
      fi_eq_readerr(requests_.get(), &error, 0);
      continue;
    }
    if (read < static_cast<ssize_t>(sizeof(fi_eq_cm_entry))) return;
    if (event == FI_CONNREQ) take_request(&room.entry(), data_bytes_of(read), key);
  }
}

// Nothing of a request is used before its proof has been checked.
void FabricWire::take_request(struct fi_eq_cm_entry* entry, size_t data_bytes, const uint64_t key[2]) {
  const FabricInfo info = library_.own(entry->info);
  Request request = {};
  if (data_bytes < sizeof request) return refuse(info.get());
  std::memcpy(&request, entry->data, sizeof request);
  const ProofSubject subject = {options_.epoch, contact_.nonce, request.nonce, request.from, request.to};
  if (!same(request.proof, prove(key, ProofRole::kConnects, subject))) return refuse(info.get());
  const bool is_expected = request.to == options_.pe && request.from > options_.pe && request.from < options_.pes &&
                           state(request.from) == WireState::kConnecting && peers_[request.from].endpoint == nullptr;
  if (!is_expected) return refuse(info.get());
  Peer& peer = peers_[request.from];
  const Proof answer = prove(key, ProofRole::kAccepts, subject);
  peer.endpoint = open_endpoint(info.get(), request.from);
  const int error = fi_accept(peer.endpoint.get(), &answer, sizeof answer);
  if (error != 0) lose(peer, text_of(error));
}

void FabricWire::refuse(struct fi_info* info) {
  if (refused_++ == 0) first_refused_ = address_text(info->dest_addr, info->dest_addrlen);
  fi_reject(listener_.get(), info->handle, nullptr, 0);
}

// Connections that nobody has asked anything of yet belong to the listener, which forgets them when it ends.
void FabricWire::stop_listening() {
  if (listener_ == nullptr) return;
  sockaddr_storage own = {};
  std::memcpy(&own, contact_.address, contact_.address_bytes);
  listener_.reset();
  close_strangers(own, connections());
  requests_.reset();
}

std::vector<SocketEnds> FabricWire::connections() const {
  std::vector<SocketEnds> ends;
  for (const Peer& peer : peers_) {
    if (peer.endpoint == nullptr) continue;
    SocketEnds one = {};
    size_t own_bytes = sizeof one.own;
    size_t peer_bytes = sizeof one.peer;
    if (fi_getname(&peer.endpoint->fid, &one.own, &own_bytes) == 0 &&
        fi_getpeer(peer.endpoint.get(), &one.peer, &peer_bytes) == 0) {
      ends.push_back(one);
    }
  }
  return ends;
}

FabricWire::Peer* FabricWire::peer_of(const void* context) {
  for (Peer& peer : peers_) {
    if (context == &peer || context == &peer.lending || context == &peer.staging) return &peer;
  }
  return nullptr;
}

void FabricWire::lose(Peer& peer, const char* why) {
  const WireState now = peer.state.load(std::memory_order_relaxed);
  if (now != WireState::kConnecting && now != WireState::kConnected) return;
  peer.why = why;
  peer.state.store(WireState::kLost, std::memory_order_release);
}

void FabricWire::poll_events() {
  EventRoom room;
  for (;;) {
    uint32_t event = 0;
    const ssize_t read = fi_eq_read(events_.get(), &event, room.bytes, sizeof room.bytes, 0);
    if (read == -FI_EAVAIL) {
      take_event_error();
    } else if (read >= static_cast<ssize_t>(sizeof(fi_eq_cm_entry))) {
      take_event(event, room.entry(), data_bytes_of(read));
    } else {
      return;
    }
  }
}

void FabricWire::take_event(uint32_t event, const struct fi_eq_cm_entry& entry, size_t data_bytes) {
  Peer* peer = entry.fid == nullptr ? nullptr : peer_of(entry.fid->context);
  if (peer == nullptr) return;
  if (event == FI_CONNECTED) {
    take_answer(*peer, entry.data, data_bytes);
  } else if (event == FI_SHUTDOWN) {
    // What came before the end counts: a goodbye, or word of why the world has ended.
    while (drain_completions()) {
    }
    lose(*peer, "the connection ended");
  }
}

void FabricWire::take_answer(Peer& peer, const uint8_t* data, size_t bytes) {
  const bool accepted = &peer - peers_.data() > options_.pe;
  Proof answer = {};
  std::memcpy(&answer, data, std::min(bytes, sizeof answer));
  if (!accepted && !same(answer, peer.answer)) return lose(peer, "who listens there does not know the world's key");
  if (peer.state.load(std::memory_order_relaxed) == WireState::kConnecting) {
    peer.state.store(WireState::kConnected, std::memory_order_release);
  }
}

void FabricWire::take_event_error() {
  fi_eq_err_entry error = {};
  if (fi_eq_readerr(events_.get(), &error, 0) < 0) return;
  Peer* peer = error.fid == nullptr ? nullptr : peer_of(error.fid->context);
  if (peer == nullptr) return;
  const bool refused = error.err == FI_ECONNREFUSED && peer->state == WireState::kConnecting;
  lose(*peer, refused ? "it refused, because nobody listens there or for another world" : text_of(-error.err));
}

}  // namespace sparkgap
