// The wire between nodes: connected endpoints over which a PE writes into memory that another PE has exposed, with a
// signal that the other sees after the data. Five verbs: connect with a key, put with signal, progress, flush, lost.
//
// One wire belongs to one PE of one world. Between two PEs everything arrives in the order in which it was put. Nothing
// that arrives is believed before the connection has proved the world's key (wire/proof.h); afterwards the library
// checks key and range of every write against what was exposed, and whoever reads a signal checks what it says.
//
// Threads: any thread may call any method at any moment after the last connection stands; one lock orders them. The
// sink is called with that lock held, by whoever makes progress.
#ifndef SPARKGAP_WIRE_WIRE_H
#define SPARKGAP_WIRE_WIRE_H

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"

namespace sparkgap {

// What bounds a wire.
struct WireLimits {
  int64_t dead_after_ms = 5000;    // a host that has acknowledged nothing for so long is gone
  int64_t keepalive_ms = 1000;     // how often a silent connection is tried
  int64_t linger_ms = 1000;        // what a PE that has ended waits for a peer to take word of it
  uint64_t most_in_flight = 128;   // puts and gets to one peer that are not done
  uint32_t looks_for_loss = 1024;  // calls of progress() that find nothing, between two looks for lost connections
};

struct WireOptions {
  int32_t pe = 0;
  int32_t pes = 0;
  uint64_t epoch = 0;
  std::string kind;     // "auto", "tcp", "verbs"
  std::string address;  // a numeric address, an interface, a network such as 10.1.0.0/16, or a host's name
  std::string ports;    // "" for any, or "20000-20100"
  std::string library;  // path of libfabric.so.1; "": look for it
  WireLimits limits;
};

// Where a PE listens; travels by the rendezvous.
struct WireContact {
  uint32_t address_bytes;
  uint8_t address[28];  // a sockaddr_in or sockaddr_in6
  uint64_t nonce;       // what a connection to this listener proves the key with
};

// Memory that a peer may write and read; travels by the rendezvous, or over a connection that has proved the key.
struct WireMemory {
  uint64_t key = 0;
  uint64_t base = 0;
  uint64_t bytes = 0;
};

// What travels with a put. Where the wire carries 32 bits with a write (verbs), `check` does not travel and arrives as
// kNoCheck.
struct WireSignal {
  uint32_t kind;   // 1..15; 0 is the wire's own
  uint32_t value;  // 20 bits
  uint32_t check;  // 32 bits
};
constexpr uint32_t kWireKinds = 16;
constexpr uint32_t kWireValueBits = 20;

class WireSink {
 public:
  virtual ~WireSink() = default;
  // The data that was put with the signal is there. `peer` is one of the PEs that this wire is connected to.
  virtual void on_signal(int32_t peer, const WireSignal& signal) = 0;
  // `peer` has left, and all that it put before is there.
  virtual void on_left(int32_t peer) = 0;
};

enum class WireState : uint32_t { kAbsent = 0, kConnecting, kConnected, kLeft, kLost };

class Wire {
 public:
  // Listens. Throws UNAVAILABLE, with what to do, if the library, the address or the ports are not to be had.
  static std::unique_ptr<Wire> listen(const WireOptions& options, WireSink* sink);

  virtual ~Wire() = default;

  virtual WireContact contact() const = 0;
  // "libfabric 2.5.1, tcp on 10.77.0.1"
  virtual const char* describe() const = 0;
  virtual bool is_rdma() const = 0;
  // Whether WireSignal::check travels.
  virtual bool carries_check() const = 0;

  // Memory that stays as it is until withdraw or the end of the wire. Its key is random.
  virtual WireMemory expose(void* address, uint64_t bytes) = 0;
  virtual void withdraw(const WireMemory& memory) = 0;

  // Of two PEs the one with the larger number connects and the other accepts; both say so here, once for each peer,
  // before connect_all. `door`: memory that the peer has exposed, at the beginning of which signals without data are
  // aimed.
  virtual void expect(int32_t peer, const WireContact& contact, const WireMemory& door) = 0;
  // Until all expected peers are connected, then stops listening. `stop` is asked every millisecond or so; it throws to
  // end the wait, and is given the first PE that is missing.
  // `key`: the world's.
  virtual void connect_all(const uint64_t key[2], void (*stop)(void* context, int32_t missing), void* context) = 0;
  // Connections that were refused because they did not prove the key, and where the first came from.
  virtual uint32_t refused() const = 0;
  virtual const char* first_refused() const = 0;

  // Writes to `to` at `offset` and then signals. False: nothing happened, because the peer's queue is full; make
  // progress and try again. `src` must stay as it is until is_done(peer, last_put(peer)), which it is at once where
  // the wire has copied it. Nothing happens for a peer that is not connected (true; see state).
  virtual bool try_put(int32_t peer, const WireMemory& to, uint64_t offset, const void* src, uint64_t bytes,
                       const WireSignal* signal) = 0;
  // A signal alone.
  virtual bool try_signal(int32_t peer, const WireSignal& signal) = 0;
  // Reads; the bytes are there once is_done says so.
  virtual bool try_get(int32_t peer, const WireMemory& from, uint64_t offset, void* dst, uint64_t bytes) = 0;
  // The last put or get that uses memory of the caller's.
  virtual uint64_t last_put(int32_t peer) const = 0;
  virtual bool is_done(int32_t peer, uint64_t put) const = 0;

  // Sends and receives what can be, and calls the sink; true if anything came or was done. Returns at once if another
  // thread is at it.
  virtual bool progress() = 0;
  // Looks for lost connections, which progress() does now and then.
  virtual void look_for_losses() = 0;
  // How often progress() was called by anybody: tells a thread that looks after idle wires that this one is not.
  virtual uint64_t progressed() const = 0;
  // What becomes readable when there is something to do; -1 if the wire has no such thing.
  virtual int descriptor() const = 0;
  // Every keepalive_ms, by whoever looks after the wire: tries the connections where the kernel does not do that.
  virtual void keep_alive() = 0;

  // Says goodbye to all peers, and waits until each has taken all that was put to it, leaves as well or is lost, but
  // no longer than `patience_ms`: then the end of the connections takes nothing from anybody. Puts nothing afterwards.
  virtual void leave(int64_t patience_ms) = 0;

  virtual WireState state(int32_t peer) const = 0;
  // Why a peer is lost: "Connection reset by peer". Static or as long as the wire.
  virtual const char* why_lost(int32_t peer) const = 0;
};

// Adds what listen would use here; throws what it would throw. NULL is "".
void probe_wire(const char* kind, const char* address, const char* ports, const char* library, Text& found);

}  // namespace sparkgap

#endif  // SPARKGAP_WIRE_WIRE_H
