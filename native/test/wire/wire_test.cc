// The wire between hosts: what arrives, in which order, who is refused, and what is seen when a process, a host or a
// cable goes away. Run within tools/hosts/hosts.py --hosts 3 run.
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "wire/wire_pair.h"

namespace sparkgap::test {
namespace {

constexpr uint64_t kSizes[] = {0, 1, 7, 8, 64, 128, 129, 1000, 4096, 65536, 1000003};

uint8_t pattern(uint64_t at, uint64_t salt) { return static_cast<uint8_t>(at * 31 + salt * 17 + 1); }

std::vector<uint8_t> patterned(uint64_t bytes, uint64_t salt) {
  std::vector<uint8_t> data(bytes);
  for (uint64_t i = 0; i < bytes; ++i) data[i] = pattern(i, salt);
  return data;
}

void expect_pattern(const uint8_t* data, uint64_t bytes, uint64_t salt) {
  for (uint64_t i = 0; i < bytes; ++i) {
    expect(data[i] == pattern(i, salt), "byte %llu of %llu is another", static_cast<unsigned long long>(i),
           static_cast<unsigned long long>(bytes));
  }
}

// Each size both ways at once, with the other's data there when its signal is.
void exchange_all_sizes(WirePe& end, int pe) {
  size_t seen = 0;
  for (const uint64_t bytes : kSizes) {
    const std::vector<uint8_t> data = patterned(bytes, bytes + static_cast<uint64_t>(pe));
    end.put(1 - pe, 4096, data.data(), bytes, {3, 77, 0xabcdef01});
    end.wait_for_signals(++seen);
    const WireSignal& signal = end.signals[seen - 1];
    expect(signal.kind == 3 && signal.value == 77 && end.from[seen - 1] == 1 - pe, "another signal arrived");
    expect(signal.check == 0xabcdef01, "another check arrived");
    expect_pattern(end.inbox() + 4096, bytes, bytes + static_cast<uint64_t>(1 - pe));
    // The other may overwrite the inbox only after it has been looked at.
    end.put(1 - pe, 0, nullptr, 0, {4, 0, 0});
    end.wait_for_signals(++seen);
    end.flush(1 - pe);
  }
}

void data_is_there_when_its_signal_is() {
  run_wire(2, [](WirePe& end, Board&, int pe) { exchange_all_sizes(end, pe); });
}

void an_mtu_of_1500_is_enough() {
  for (const int host : {0, 1}) set_mtu(host, 1500);
  run_wire(2, [](WirePe& end, Board&, int pe) { exchange_all_sizes(end, pe); });
}

void puts_of_all_sizes_arrive_in_order() {
  constexpr uint32_t kPuts = 3000;
  run_wire(3, [](WirePe& end, Board&, int pe) {
    const std::vector<uint8_t> data = patterned(70000, 1);
    for (uint32_t i = 0; i < kPuts; ++i) {
      for (int peer = 0; peer < 3; ++peer) {
        const uint64_t bytes = i % 3 == 0 ? 8 : i % 3 == 1 ? 1000 : 70000;
        if (peer != pe) end.put(peer, static_cast<uint64_t>(pe) << 20, data.data(), bytes, {1, i, i * 7});
      }
    }
    end.wait_for_signals(2 * kPuts);
    uint32_t next[3] = {};
    for (size_t i = 0; i < end.signals.size(); ++i) {
      uint32_t& expected = next[end.from[i]];
      expect(end.signals[i].value == expected && end.signals[i].check == expected * 7, "a signal out of turn");
      ++expected;
    }
    for (int peer = 0; peer < 3; ++peer) {
      if (peer != pe) end.flush(peer);
    }
  });
}

// From one array, which holds the next message as soon as the wire says that the last one is done. The receiver does
// not look before the wire takes no more, so that what it has taken lies with the sender.
void what_is_done_may_be_overwritten() {
  constexpr uint64_t kBytes = 4096;
  constexpr uint64_t kPlaces = kInboxBytes / kBytes;
  run_wire(2, [](WirePe& end, Board& board, int pe) {
    if (pe == 0) {
      std::vector<uint8_t> data;
      for (uint64_t i = 0; i < kPlaces; ++i) {
        const uint64_t bytes = i % 5 == 0 ? 64 : i % 5 == 1 ? 129 : kBytes - i % 3;
        data.assign(kBytes, 0xee);
        for (uint64_t at = 0; at < bytes; ++at) data[at] = pattern(at, i);
        const WireSignal signal = {1, static_cast<uint32_t>(bytes), 0};
        if (!end.wire().try_put(1, board.cards[1].inbox, i * kBytes, data.data(), bytes, &signal)) {
          board.stage = 1;
          end.put(1, i * kBytes, data.data(), bytes, signal);
        }
        if (!end.wire().is_done(1, end.wire().last_put(1))) board.stage = 1;
        end.flush(1);
        std::fill(data.begin(), data.end(), uint8_t{0xdd});
      }
      board.stage = 1;
      end.wait_for_signals(1);
    } else {
      await([&] { return board.stage.load() == 1; }, "a wire that is full");
      end.wait_for_signals(kPlaces);
      for (uint64_t i = 0; i < kPlaces; ++i) expect_pattern(end.inbox() + i * kBytes, end.signals[i].value, i);
      end.put(0, 0, nullptr, 0, {1, 0, 0});
    }
  });
}

void memory_is_read_from_afar() {
  run_wire(2, [](WirePe& end, Board& board, int pe) {
    const std::vector<uint8_t> data = patterned(1000003, static_cast<uint64_t>(pe));
    std::memcpy(end.inbox(), data.data(), data.size());
    end.put(1 - pe, kInboxBytes - 8, data.data(), 8, {1, 0, 0});
    end.wait_for_signals(1);
    std::vector<uint8_t> copy(data.size());
    while (!end.wire().try_get(1 - pe, board.cards[1 - pe].inbox, 0, copy.data(), copy.size())) end.wire().progress();
    end.flush(1 - pe);
    expect_pattern(copy.data(), copy.size(), static_cast<uint64_t>(1 - pe));
    // Who has left is asked no more.
    end.put(1 - pe, kInboxBytes - 8, data.data(), 8, {1, 0, 0});
    end.wait_for_signals(2);
  });
}

void goodbye_is_no_loss() {
  run_wire(2, [](WirePe& end, Board& board, int pe) {
    if (pe == 0) {
      end.wait([&] { return end.wire().state(1) == WireState::kLeft; }, "the goodbye");
      board.stage = 1;
    } else {
      end.leave();
      end.wait([&] { return board.stage.load() == 1; }, "the other to see it");
    }
  });
}

// PE 1 looks at nothing while PE 0 leaves, and sends to it when that would be gone.
void what_was_put_before_a_goodbye_arrives() {
  constexpr int kPuts = 32;
  constexpr uint64_t kBytes = 128 << 10;
  const std::vector<uint8_t> data = patterned(kBytes, 1);
  run_wire(2, [&data](WirePe& end, Board& board, int pe) {
    if (pe == 0) {
      await([&] { return board.stage.load() == 1; }, "what is not read");
      for (uint32_t i = 0; i < kPuts; ++i) end.put(1, i * kBytes, data.data(), kBytes, {1, i, 0});
      board.stage = 2;
      return;
    }
    const auto put_nothing = [&] { end.put(0, 0, nullptr, 0, {1, 0, 0}); };
    put_nothing();
    end.wire().progress();
    board.stage = 1;
    await([&] { return board.stage.load() == 2; }, "the other to leave");
    usleep(400000);
    for (size_t i = 1; i <= kPuts; ++i) {
      put_nothing();
      end.wait_for_signals(i);
    }
    end.wait([&] { return end.wire().state(0) == WireState::kLeft; }, "the goodbye");
    for (uint32_t i = 0; i < kPuts; ++i) expect_pattern(end.inbox() + i * kBytes, kBytes, 1);
  });
}

// PE 1 is on host 1 and does nothing but progress; PE 0 on host 0 has to see that it is gone after take_away(process of
// PE 1) has been called.
void expect_loss_is_seen(const std::function<void(pid_t)>& take_away) {
  const Shared<Board> board;
  const pid_t gone = start_on_host(1, [&] {
    WirePe end(board[0], 1, 2, address_of_host(1));
    end.connect();
    ++board[0].stage;
    for (;;) end.wire().progress();
  });
  const pid_t survivor = start_on_host(0, [&] {
    WirePe end(board[0], 0, 2, address_of_host(0));
    end.connect();
    ++board[0].stage;
    end.wait([&] { return end.wire().state(1) == WireState::kLost; }, "the loss to show");
    expect(end.wire().why_lost(1)[0] != '\0', "nobody says why");
  });
  const double end = seconds_now() + kPatienceSeconds;
  while (board[0].stage.load() < 2 && seconds_now() < end) usleep(1000);
  take_away(gone);
  std::string problem;
  try {
    join(survivor, "the survivor");
  } catch (const std::exception& e) {
    problem = e.what();
  }
  kill(gone, SIGKILL);
  int status = 0;
  waitpid(gone, &status, 0);
  expect(problem.empty(), "%s", problem.c_str());
}

void a_killed_process_is_seen() {
  expect_loss_is_seen([](pid_t process) { kill(process, SIGKILL); });
}

// Nothing says that the host is gone: only that it answers no more.
void a_host_that_vanishes_is_seen() {
  expect_loss_is_seen([](pid_t) { set_link(1, false); });
  set_link(1, true);
}

void a_cable_out_for_two_seconds_is_no_loss() {
  run_wire(2, [](WirePe& end, Board& board, int pe) {
    const std::vector<uint8_t> data = patterned(100000, 5);
    for (uint32_t i = 0; i < 2000; ++i) {
      if (pe == 0 && i == 500) {
        set_own_link(false);
        usleep(2000000);
        set_own_link(true);
      }
      end.put(1 - pe, 4096, data.data(), data.size(), {1, i, 0});
      end.wait_for_signals(i + 1);
    }
    end.flush(1 - pe);
    expect(board.cards[0].is_there.load(), "the board is gone");
  });
}

// Connects to where PE `pe` listens, says `bytes` and stays.
int knock(const Board& board, int pe, const std::string& bytes) {
  const WireContact& contact = board.cards[pe].contact;
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  expect(socket >= 0 && connect(socket, reinterpret_cast<const sockaddr*>(contact.address), contact.address_bytes) == 0,
         "cannot knock: %s", std::strerror(errno));
  if (!bytes.empty()) {
    expect(send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()),
           "cannot speak");
  }
  return socket;
}

// Until the other side has closed; whatever it says before is thrown away.
void expect_closed(int socket, const char* who) {
  const timeval patience = {static_cast<time_t>(kPatienceSeconds), 0};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  char bytes[256];
  ssize_t got;
  while ((got = recv(socket, bytes, sizeof bytes, 0)) > 0) {
  }
  expect(got == 0 || errno == ECONNRESET, "%s is still connected (%s)", who, std::strerror(errno));
  close(socket);
}

// The other PE comes only after strangers have tried everything.
void strangers_harm_nobody() {
  const Shared<Board> board;
  std::vector<pid_t> pes;
  for (int pe = 0; pe < 2; ++pe) {
    pes.push_back(start_on_host(pe, [&, pe] {
      if (pe == 1) {
        await([&] { return board[0].stage.load() >= 1; }, "the stranger");
      }
      WirePe end(board[0], pe, 2, address_of_host(pe));
      end.connect();
      exchange_all_sizes(end, pe);
      ++board[0].ended;
      end.wait([&] { return board[0].stage.load() == 2 && board[0].ended.load() == 2; }, "the strangers to go");
      end.leave();
    }));
  }
  const pid_t stranger = start_on_host(2, [&] {
    await([&] { return board[0].cards[0].is_there.load(); }, "PE 0");
    const std::string garbage(5000, 'x');
    // A request as libfabric makes it (version, type, length), with data that proves nothing.
    std::string request("\x03\x01\x00\x28\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 16);
    request += std::string(40, 'k');
    const int silent = knock(board[0], 0, "");
    const int half = knock(board[0], 0, "\x03");
    const int noisy = knock(board[0], 0, garbage);
    const int knocking = knock(board[0], 0, request);
    close(knock(board[0], 0, garbage.substr(0, 20)));
    for (int i = 0; i < 100; ++i) close(knock(board[0], 0, ""));
    usleep(200000);
    ++board[0].stage;
    await([&] { return board[0].ended.load() == 2; }, "the PEs");
    expect_closed(silent, "who said nothing");
    expect_closed(half, "who said half a word");
    expect_closed(noisy, "who said garbage");
    expect_closed(knocking, "who proved nothing");
    const int late = ::socket(AF_INET, SOCK_STREAM, 0);
    const WireContact& contact = board[0].cards[0].contact;
    expect(connect(late, reinterpret_cast<const sockaddr*>(contact.address), contact.address_bytes) != 0,
           "PE 0 listens although its world is made");
    close(late);
    board[0].stage = 2;
  });
  join(stranger, "the stranger");
  for (int pe = 0; pe < 2; ++pe) join(pes[pe], pe == 0 ? "PE 0" : "PE 1");
}

// PE 2 has another key: PE 0 refuses it and goes on listening, and PE 2 says so.
void a_wrong_key_is_refused() {
  const Shared<Board> board;
  std::vector<pid_t> processes;
  for (int pe = 0; pe < 2; ++pe) {
    processes.push_back(start_on_host(pe, [&, pe] {
      WirePe end(board[0], pe, 2, address_of_host(pe));
      if (pe == 1) {
        await([&] { return board[0].stage.load() >= 1; }, "the stranger");
      }
      end.connect();
      exchange_all_sizes(end, pe);
      if (pe == 0) {
        expect(end.wire().refused() == 1, "%u connections were refused, not 1", end.wire().refused());
        expect(address_of_host(2) == end.wire().first_refused(), "refused was %s", end.wire().first_refused());
      }
      end.leave();
      ++board[0].ended;
      end.wait([&] { return board[0].ended.load() == 2; }, "the other to end");
    }));
  }
  processes.push_back(start_on_host(2, [&] {
    const Shared<Board> own;
    await([&] { return board[0].cards[0].is_there.load(); }, "PE 0");
    own[0].cards[0].contact = board[0].cards[0].contact;
    own[0].cards[0].inbox = board[0].cards[0].inbox;
    own[0].cards[0].is_there = true;
    WirePe liar(own[0], 1, 2, address_of_host(2));
    std::string said;
    try {
      liar.connect(43);
    } catch (const sparkgap::Failure& failure) {
      said = failure.message;
    }
    expect(said.find("refused") != std::string::npos, "a wrong key was told: \"%s\"", said.c_str());
    board[0].stage = 1;
  }));
  for (const pid_t process : processes) join(process, "a PE");
}

// Memory that was not exposed stays as it is; whoever writes past the end loses its connection.
void writes_past_the_end_are_refused() {
  const Shared<Board> board;
  std::vector<pid_t> processes;
  for (int pe = 0; pe < 2; ++pe) {
    processes.push_back(start_on_host(pe, [&, pe] {
      WirePe end(board[0], pe, 2, address_of_host(pe));
      end.connect();
      if (pe == 1) {
        const std::vector<uint8_t> data = patterned(4096, 3);
        end.put(0, kInboxBytes - 8, data.data(), data.size(), {1, 0, 0});
      }
      end.wait([&] { return end.wire().state(1 - pe) == WireState::kLost; }, "the connection to end");
      expect(end.signals.empty(), "a write past the end was signalled");
      for (int i = 1; i <= 8; ++i) expect(end.inbox()[kInboxBytes - i] == 0, "a write past the end was carried out");
    }));
  }
  for (const pid_t process : processes) join(process, "a PE");
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(argc, argv,
                   {{"data_is_there_when_its_signal_is", data_is_there_when_its_signal_is},
                    {"puts_of_all_sizes_arrive_in_order", puts_of_all_sizes_arrive_in_order},
                    {"what_is_done_may_be_overwritten", what_is_done_may_be_overwritten},
                    {"memory_is_read_from_afar", memory_is_read_from_afar},
                    {"goodbye_is_no_loss", goodbye_is_no_loss},
                    {"what_was_put_before_a_goodbye_arrives", what_was_put_before_a_goodbye_arrives},
                    {"writes_past_the_end_are_refused", writes_past_the_end_are_refused},
                    {"strangers_harm_nobody", strangers_harm_nobody},
                    {"a_wrong_key_is_refused", a_wrong_key_is_refused},
                    {"a_killed_process_is_seen", a_killed_process_is_seen},
                    {"a_host_that_vanishes_is_seen", a_host_that_vanishes_is_seen},
                    {"a_cable_out_for_two_seconds_is_no_loss", a_cable_out_for_two_seconds_is_no_loss},
                    {"an_mtu_of_1500_is_enough", an_mtu_of_1500_is_enough}});
}
