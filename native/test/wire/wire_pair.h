// PEs that have a wire and nothing else, for tests: each is a process on a host, with an inbox that the others write
// to.
#ifndef SPARKGAP_TEST_WIRE_WIRE_PAIR_H
#define SPARKGAP_TEST_WIRE_WIRE_PAIR_H

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/error.h"
#include "support/check.h"
#include "support/hosts.h"
#include "support/pes.h"
#include "wire/wire.h"

namespace sparkgap::test {

constexpr int kMostWirePes = 4;
constexpr uint64_t kInboxBytes = 8 << 20;
constexpr double kPatienceSeconds = 60;

// What the PEs' processes tell each other beside the wire.
struct Board {
  struct Card {
    std::atomic<bool> is_there;
    WireContact contact;
    WireMemory inbox;
  };
  Card cards[kMostWirePes];
  std::atomic<int> stage;  // what a test's PEs tell each other to go on by
  std::atomic<int> ended;  // PEs whose body has returned
  std::atomic<int> processes[kMostWirePes];
};

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What needs no wire to come about.
template <class Ready>
void await(const Ready& ready, const char* what) {
  const double end = seconds_now() + kPatienceSeconds;
  while (!ready()) {
    expect(seconds_now() < end, "waited in vain for %s", what);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// One end, with the signals that came, in order.
class WirePe final : public WireSink {
 public:
  WirePe(Board& board, int pe, int pes, const std::string& address, const std::string& ports = "")
      : board_(board), pe_(pe), pes_(pes) {
    void* memory = mmap(nullptr, kInboxBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect(memory != MAP_FAILED, "no memory");
    inbox_ = static_cast<uint8_t*>(memory);
    WireOptions options;
    options.pe = pe;
    options.pes = pes;
    options.epoch = 7;
    options.kind = "tcp";
    options.address = address;
    options.ports = ports;
    options.library = SPARKGAP_FABRIC_LIBRARY;
    wire_ = Wire::listen(options, this);
    Board::Card& card = board.cards[pe];
    card.contact = wire_->contact();
    card.inbox = wire_->expose(inbox_, kInboxBytes);
    card.is_there = true;
  }
  ~WirePe() override {
    wire_.reset();
    munmap(inbox_, kInboxBytes);
  }

  void on_signal(int32_t peer, const WireSignal& signal) override {
    from.push_back(peer);
    signals.push_back(signal);
  }
  void on_left(int32_t) override {}

  void connect(uint64_t key = 42) {
    for (int peer = 0; peer < pes_; ++peer) {
      if (peer == pe_) continue;
      wait([&] { return board_.cards[peer].is_there.load(); }, "the other's card");
      wire_->expect(peer, board_.cards[peer].contact, board_.cards[peer].inbox);
    }
    const uint64_t whole[2] = {key, ~key};
    double end = seconds_now() + kPatienceSeconds;
    wire_->connect_all(
        whole,
        [](void* until, int32_t missing) {
          if (seconds_now() > *static_cast<double*>(until))
            fail(SPARKGAP_TIMED_OUT, missing, "PE %d did not come", missing);
        },
        &end);
  }

  void put(int peer, uint64_t offset, const void* data, uint64_t bytes, const WireSignal& signal) {
    while (!wire_->try_put(peer, board_.cards[peer].inbox, offset, data, bytes, &signal)) wire_->progress();
  }
  void flush(int peer) {
    wait([&] { return wire_->is_done(peer, wire_->last_put(peer)); }, "its puts to be done");
  }
  template <class Ready>
  void wait(const Ready& ready, const char* what) {
    const double end = seconds_now() + kPatienceSeconds;
    while (!ready()) {
      wire_->progress();
      expect(seconds_now() < end, "PE %d waited in vain for %s", pe_, what);
    }
  }
  void wait_for_signals(size_t number) {
    wait([&] { return signals.size() >= number; }, "signals");
  }
  void leave() { wire_->leave(static_cast<int64_t>(kPatienceSeconds * 1000)); }

  Wire& wire() { return *wire_; }
  uint8_t* inbox() { return inbox_; }

  std::vector<int32_t> from;
  std::vector<WireSignal> signals;

 private:
  Board& board_;
  int pe_;
  int pes_;
  uint8_t* inbox_ = nullptr;
  std::unique_ptr<Wire> wire_;
};

// Runs body(pe, its number) in a process on each of hosts 0..pes-1, with connected wires; no process is left.
inline void run_wire(int pes, const std::function<void(WirePe&, Board&, int)>& body) {
  const Shared<Board> board;
  std::vector<pid_t> processes;
  for (int pe = 0; pe < pes; ++pe) {
    processes.push_back(start_on_host(pe, [&, pe] {
      WirePe end(board[0], pe, pes, address_of_host(pe));
      end.connect();
      body(end, board[0], pe);
      end.leave();
    }));
  }
  for (int pe = 0; pe < pes; ++pe) join(processes[pe], ("PE " + std::to_string(pe)).c_str());
}

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_WIRE_WIRE_PAIR_H
