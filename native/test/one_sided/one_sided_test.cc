// put, get, signals, fetchAdd and the symmetric buffers that they go to.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "support/check.h"
#include "support/pes.h"

namespace sparkgap::test {
namespace {

int64_t* words(sparkgap_buffer* buffer) { return static_cast<int64_t*>(sparkgap_buffer_address(buffer)); }

void buffers_are_zeroed_aligned_and_come_back(const Pes& pes) {
  run_pes(pes, [](const Pe& pe) {
    for (int round = 0; round < 20; ++round) {
      std::vector<sparkgap_buffer*> buffers;
      for (const uint64_t bytes : {uint64_t{1}, uint64_t{4096}, uint64_t{1000003}}) {
        sparkgap_buffer* buffer = pe.allocate(bytes);
        auto* memory = static_cast<char*>(sparkgap_buffer_address(buffer));
        expect(sparkgap_buffer_bytes(buffer) == bytes, "a buffer of %lu bytes has %lu", bytes,
               sparkgap_buffer_bytes(buffer));
        expect(reinterpret_cast<uintptr_t>(memory) % 4096 == 0, "a buffer is not aligned to 4096");
        expect(std::all_of(memory, memory + bytes, [](char c) { return c == 0; }), "a new buffer is not zeroed");
        std::memset(memory, 0xff, bytes);
        buffers.push_back(buffer);
      }
      std::swap(buffers[0], buffers[round % 3]);
      for (sparkgap_buffer* buffer : buffers) pe.ok(sparkgap_free(pe.world(), buffer), "sparkgap_free");
    }
    sparkgap_buffer* empty = pe.allocate(0);
    expect(sparkgap_buffer_address(empty) == nullptr && sparkgap_buffer_bytes(empty) == 0, "0 bytes are not empty");
    pe.ok(sparkgap_put(pe.world(), empty, 0, nullptr, 0, 0), "sparkgap_put of nothing");
    pe.ok(sparkgap_free(pe.world(), empty), "sparkgap_free");
  });
}

void peers_see_each_others_memory(const Pes& pes) {
  run_pes(pes, [](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(4096);
    words(buffer)[0] = 100 + pe.pe();
    pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
    for (int peer = 0; peer < pe.pes(); ++peer) {
      const auto* theirs = static_cast<const int64_t*>(sparkgap_buffer_peer_address(buffer, peer));
      expect(theirs != nullptr && *theirs == 100 + peer, "PE %d's memory does not show what it wrote", peer);
    }
    expect(sparkgap_buffer_peer_address(buffer, pe.pe()) == sparkgap_buffer_address(buffer),
           "the own part has two addresses");
    pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
  });
}

// Everybody writes a block of everybody at once, reads it back and adds to everybody's counter.
void all_pes_put_get_and_add_at_once(const Pes& pes) {
  run_pes(pes, [](const Pe& pe) {
    constexpr uint64_t kBlock = 10007;
    constexpr int kRounds = 50;
    sparkgap_buffer* blocks = pe.allocate(kBlock * pe.pes());
    sparkgap_buffer* counter = pe.allocate(8);
    std::vector<unsigned char> mine(kBlock);
    std::vector<unsigned char> back(kBlock);
    const auto value = [](int from, int to, int round) {
      return static_cast<unsigned char>(from * 37 + to * 5 + round);
    };
    for (int round = 0; round < kRounds; ++round) {
      for (int peer = 0; peer < pe.pes(); ++peer) {
        std::fill(mine.begin(), mine.end(), value(pe.pe(), peer, round));
        pe.ok(sparkgap_put(pe.world(), blocks, kBlock * pe.pe(), mine.data(), kBlock, peer), "sparkgap_put");
        int64_t before = 0;
        pe.ok(sparkgap_fetch_add(pe.world(), counter, 0, 1, peer, &before), "sparkgap_fetch_add");
        expect(before >= round && before < (round + 1) * pe.pes(), "fetchAdd saw %ld in round %d", before, round);
      }
      pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
      const auto* local = static_cast<const unsigned char*>(sparkgap_buffer_address(blocks));
      for (int from = 0; from < pe.pes(); ++from) {
        const unsigned char* block = local + kBlock * from;
        const unsigned char expected = value(from, pe.pe(), round);
        expect(std::all_of(block, block + kBlock, [=](unsigned char c) { return c == expected; }),
               "round %d: the block of PE %d is wrong", round, from);
        pe.ok(sparkgap_get(pe.world(), back.data(), blocks, kBlock * pe.pe(), kBlock, from), "sparkgap_get");
        const unsigned char own = value(pe.pe(), from, round);
        expect(std::all_of(back.begin(), back.end(), [=](unsigned char c) { return c == own; }),
               "round %d: get from PE %d brought something else", round, from);
      }
      expect(*words(counter) == (round + 1) * pe.pes(), "after round %d the counter is %ld", round, *words(counter));
      pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
    }
  });
}

// A ring: each PE passes a growing block on as soon as the signal says that it is there.
void a_signal_comes_after_its_data(const Pes& pes) {
  run_pes(pes, [](const Pe& pe) {
    constexpr int64_t kRounds = 3000;
    constexpr uint64_t kWords = 300;
    // Two halves, used in turn, because a PE may be overtaken by one round while it reads.
    sparkgap_buffer* data = pe.allocate(2 * kWords * 8);
    sparkgap_buffer* signal = pe.allocate(16);
    const int next = (pe.pe() + 1) % pe.pes();
    std::vector<int64_t> block(kWords);
    std::mt19937_64 draws(static_cast<uint64_t>(pe.pe()) + 1);
    for (int64_t round = 1; round <= kRounds; ++round) {
      if (draws() % 1000 == 0) usleep(2000);
      const uint64_t half = round % 2 * kWords * 8;
      const uint64_t count = 1 + static_cast<uint64_t>(round) % kWords;
      std::fill(block.begin(), block.begin() + static_cast<ptrdiff_t>(count), round * 10 + pe.pe());
      const bool adds = round % 2 == 0;
      pe.ok(sparkgap_put_signal(pe.world(), data, half, block.data(), count * 8, signal, 8, adds ? 1 : round,
                                adds ? SPARKGAP_SIGNAL_ADD : SPARKGAP_SIGNAL_SET, next),
            "sparkgap_put_signal");
      int64_t observed = 0;
      pe.ok(sparkgap_wait_signal(pe.world(), signal, 8, SPARKGAP_GE, round, &observed), "sparkgap_wait_signal");
      expect(observed >= round, "waitSignal for at least %ld observed %ld", round, observed);
      const int64_t* got = words(data) + half / 8;
      const int64_t expected = round * 10 + (pe.pe() + pe.pes() - 1) % pe.pes();
      expect(std::all_of(got, got + count, [=](int64_t word) { return word == expected; }),
             "round %ld: the signal was there before the data", round);
      // The sender may only go on to this half again when it has been read.
      if (round % 2 == 0) pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
    }
  });
}

void every_comparison_waits_for_what_it_says(const Pes& pes) {
  struct Wait {
    int32_t comparison;
    int64_t value;
    int64_t releasing;  // what makes the comparison true, after a start at 10 where it is false
  };
  constexpr Wait kWaits[] = {{SPARKGAP_EQ, 11, 11}, {SPARKGAP_NE, 10, -3}, {SPARKGAP_GT, 10, 11},
                             {SPARKGAP_GE, 12, 12}, {SPARKGAP_LT, 10, -1}, {SPARKGAP_LE, -5, -5}};
  run_pes(pes, [&kWaits](const Pe& pe) {
    sparkgap_buffer* signal = pe.allocate(64);
    for (const Wait& wait : kWaits) {
      words(signal)[7] = 10;
      pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
      const int next = (pe.pe() + 1) % pe.pes();
      // Long enough that the waiting PE is asleep.
      usleep(20000);
      pe.ok(sparkgap_signal(pe.world(), signal, 56, wait.releasing, SPARKGAP_SIGNAL_SET, next), "sparkgap_signal");
      int64_t observed = 0;
      pe.ok(sparkgap_wait_signal(pe.world(), signal, 56, wait.comparison, wait.value, &observed),
            "sparkgap_wait_signal");
      expect(observed == wait.releasing, "comparison %d with %ld was ended by %ld", wait.comparison, wait.value,
             observed);
      pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
    }
  });
}

void signals_from_everybody_add_up(const Pes& pes) {
  run_pes(pes, [](const Pe& pe) {
    constexpr int64_t kSignals = 5000;
    sparkgap_buffer* signal = pe.allocate(8);
    for (int64_t i = 0; i < kSignals; ++i) {
      for (int peer = 0; peer < pe.pes(); ++peer) {
        pe.ok(sparkgap_signal(pe.world(), signal, 0, 2, SPARKGAP_SIGNAL_ADD, peer), "sparkgap_signal");
      }
    }
    int64_t observed = 0;
    pe.ok(sparkgap_wait_signal(pe.world(), signal, 0, SPARKGAP_EQ, 2 * kSignals * pe.pes(), &observed),
          "sparkgap_wait_signal");
  });
}

// Two worlds of the same processes are used in turn; neither sees the other's calls.
void worlds_do_not_mix() {
  run_pes({2}, [](const Pe& outer) {
    sparkgap_buffer* theirs = outer.allocate(8);
    run_pes({3, Placement::kThreads}, [&](const Pe& inner) {
      for (int64_t i = 0; i < 1000; ++i) {
        int64_t sum = 0;
        const int64_t in = i + inner.pe();
        inner.ok(sparkgap_all_reduce(inner.world(), &in, &sum, 1, SPARKGAP_INT64, SPARKGAP_SUM), "sparkgap_all_reduce");
        expect(sum == 3 * i + 3, "the inner world's sum is %ld", sum);
        if (inner.pe() != 0) continue;
        outer.ok(sparkgap_all_reduce(outer.world(), &in, &sum, 1, SPARKGAP_INT64, SPARKGAP_SUM), "sparkgap_all_reduce");
        expect(sum == 2 * i, "the outer world's sum is %ld", sum);
      }
    });
    outer.ok(sparkgap_free(outer.world(), theirs), "sparkgap_free");
  });
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  const Pes processes{4};
  const Pes threads{3, Placement::kThreads};
  return run_tests(
      argc, argv,
      {{"buffers_are_zeroed_aligned_and_come_back", [=] { buffers_are_zeroed_aligned_and_come_back(processes); }},
       {"buffers_of_threads_are_zeroed_and_come_back", [=] { buffers_are_zeroed_aligned_and_come_back(threads); }},
       {"processes_see_each_others_memory", [=] { peers_see_each_others_memory(processes); }},
       {"threads_see_each_others_memory", [=] { peers_see_each_others_memory(threads); }},
       {"all_processes_put_get_and_add_at_once", [=] { all_pes_put_get_and_add_at_once(processes); }},
       {"all_threads_put_get_and_add_at_once", [=] { all_pes_put_get_and_add_at_once(threads); }},
       {"a_signal_comes_after_its_data", [=] { a_signal_comes_after_its_data(processes); }},
       {"a_signal_of_threads_comes_after_its_data", [=] { a_signal_comes_after_its_data(threads); }},
       {"every_comparison_waits_for_what_it_says", [=] { every_comparison_waits_for_what_it_says(processes); }},
       {"signals_from_everybody_add_up", [=] { signals_from_everybody_add_up(processes); }},
       {"worlds_do_not_mix", worlds_do_not_mix}});
}
