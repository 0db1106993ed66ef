// The ring's protocol without a GPU: PEs as state machines over protocol/ring.h, in orders of all kinds. A slot that is
// overwritten before it has been read, a sum that is not of the PEs before, or an order in which nobody can go on
// fails.
#include "protocol/ring.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "protocol/scratch.h"
#include "support/check.h"

namespace sparkgap::test {
namespace {

using kernels::kNoPiece;
using kernels::kParities;
using kernels::kRingWords;
using kernels::Ring;

// A call of one lane: a ring over so many pieces, or, for 0, one step of the kind that all other algorithms are made
// of: write to all, exchange, read from all.
using Calls = std::vector<uint64_t>;

constexpr int kResult = -1;  // Slot::holds

struct Slot {
  uint32_t number = 0;
  int holds = 0;  // how many PEs' sum; kResult; or an ordinary message
  bool unread = false;
};

struct Memory {
  std::vector<Slot> slots[kParities];      // by source
  std::vector<uint32_t> flags[kParities];  // by source
  uint32_t words[kParities][kRingWords] = {};
  std::vector<bool> added;  // of the call: pieces of `in` that this PE needs no more
  std::vector<bool> out;    // of the call: results that are there
};

// Goes on by small steps, each of which a wait, some stores to one PE, or the work of a round.
class SimulatedPe {
 public:
  SimulatedPe(int pe, std::vector<Memory>& memories, const Calls& calls, bool direct)
      : pe_(pe), pes_(static_cast<int>(memories.size())), memories_(memories), calls_(calls), direct_(direct) {}

  bool done() const { return call_ == calls_.size(); }

  // False if it waits.
  bool go_on() {
    switch (phase_) {
      case Phase::kStart:
        return start();
      case Phase::kRaise:
        return raise();
      case Phase::kMeet:
        return meet();
      case Phase::kAwait:
        return await();
      case Phase::kWork:
        return work();
      default:
        return publish();
    }
  }

  std::string where() const {
    return "PE " + std::to_string(pe_) + " in call " + std::to_string(call_) + ", phase " +
           std::to_string(static_cast<int>(phase_)) + ", round " + std::to_string(round_) + ", step " +
           std::to_string(step_);
  }

 private:
  enum class Phase { kStart, kRaise, kMeet, kAwait, kWork, kPublish };

  uint64_t pieces() const { return calls_[call_]; }
  Memory& own() { return memories_[static_cast<size_t>(pe_)]; }
  Ring ring() const { return {pe_, pes_, pieces()}; }
  uint32_t number_of(uint64_t piece) const { return first_number_ + static_cast<uint32_t>(piece); }

  bool go_to(Phase phase) {
    phase_ = phase;
    next_ = 0;
    return true;
  }

  bool start() {
    own().added.assign(pieces(), false);
    own().out.assign(pieces(), false);
    ++step_;
    opening_ = pieces() > 0;
    for (int to = 0; pieces() == 0 && to < pes_; ++to) {
      if (to != pe_) put(to, pe_, step_, pe_);
    }
    return go_to(Phase::kRaise);
  }

  // As Lane::exchange, one flag a time.
  bool raise() {
    if (next_ == pes_) return go_to(Phase::kMeet);
    memories_[static_cast<size_t>(next_)].flags[step_ % kParities][static_cast<size_t>(pe_)] = step_;
    ++next_;
    return true;
  }

  bool meet() {
    const std::vector<uint32_t>& flags = own().flags[step_ % kParities];
    if (std::count(flags.begin(), flags.end(), step_) != pes_) return false;
    if (opening_) {
      opening_ = false;
      round_ = 0;
      first_number_ = step_ + 1;
      return go_to(ring().rounds() > 0 ? Phase::kAwait : Phase::kRaise);
    }
    for (int from = 0; pieces() == 0 && from < pes_; ++from) {
      if (from != pe_) take(from, step_, from);
    }
    for (const bool there : own().out) expect(there, "%s: a result is missing", where().c_str());
    ++call_;
    return go_to(Phase::kStart);
  }

  bool await() {
    for (int32_t word = 0; word < kRingWords; ++word) {
      const uint64_t piece = ring().awaited(round_, word);
      if (piece != kNoPiece && own().words[number_of(piece) % kParities][word] != number_of(piece)) return false;
    }
    return go_to(Phase::kWork);
  }

  bool work() {
    const uint64_t added = ring().added(round_);
    const uint64_t taken = ring().taken(round_);
    if (added != kNoPiece) {
      if (!ring().is_first()) take(pe_ - 1, number_of(added), pe_);
      own().added[added] = true;
      if (!ring().is_last()) {
        put(pe_ + 1, pe_, number_of(added), pe_ + 1);
      } else {
        own().out[added] = true;
        if (ring().sends_results()) send_result(added);
      }
    }
    if (taken != kNoPiece) {
      if (!direct_) take(pe_, number_of(taken), kResult);
      if (direct_) expect(own().out[taken], "%s: the result is not there", where().c_str());
      own().out[taken] = true;
      if (ring().sends_results()) send_result(taken);
    }
    return go_to(Phase::kPublish);
  }

  bool publish() {
    if (next_ < kRingWords) {
      const int32_t word = next_++;
      const uint64_t piece = ring().published(round_, word);
      if (piece == kNoPiece) return true;
      memories_[static_cast<size_t>(ring().reader_of(word))].words[number_of(piece) % kParities][word] =
          number_of(piece);
      return true;
    }
    if (++round_ < ring().rounds()) return go_to(Phase::kAwait);
    step_ += static_cast<uint32_t>(pieces()) + 1;
    return go_to(Phase::kRaise);
  }

  void send_result(uint64_t piece) {
    const int next = ring().after();
    if (!direct_) return put(next, next, number_of(piece), kResult);
    Memory& memory = memories_[static_cast<size_t>(next)];
    expect(memory.added[piece], "%s: the result overwrites what PE %d has yet to add", where().c_str(), next);
    memory.out[piece] = true;
  }

  void put(int at, int source, uint32_t number, int holds) {
    Slot& slot = memories_[static_cast<size_t>(at)].slots[number % kParities][static_cast<size_t>(source)];
    expect(!slot.unread, "%s overwrites number %u in slot %d of PE %d, which has not been read", where().c_str(),
           slot.number, source, at);
    slot = {number, holds, true};
  }

  void take(int source, uint32_t number, int holds) {
    Slot& slot = own().slots[number % kParities][static_cast<size_t>(source)];
    expect(slot.unread && slot.number == number && slot.holds == holds, "%s: slot %d has number %u, %d",
           where().c_str(), source, slot.number, slot.holds);
    slot.unread = false;
  }

  const int pe_;
  const int pes_;
  std::vector<Memory>& memories_;
  const Calls& calls_;
  const bool direct_;
  Phase phase_ = Phase::kStart;
  size_t call_ = 0;
  int next_ = 0;  // of the words or flags of the phase
  bool opening_ = false;
  uint32_t step_ = 0;
  uint32_t first_number_ = 0;
  uint64_t round_ = 0;
};

// `choose` says which PE is to go on; whoever waits is passed over for the next.
template <class Choose>
void simulate(int pes, const Calls& calls, bool direct, const Choose& choose) {
  std::vector<Memory> memories(static_cast<size_t>(pes));
  for (Memory& memory : memories) {
    for (auto& slots : memory.slots) slots.resize(static_cast<size_t>(pes));
    for (auto& flags : memory.flags) flags.resize(static_cast<size_t>(pes));
  }
  std::vector<SimulatedPe> all;
  for (int pe = 0; pe < pes; ++pe) all.emplace_back(pe, memories, calls, direct);
  const auto ended = [&] { return std::all_of(all.begin(), all.end(), [](const auto& pe) { return pe.done(); }); };
  while (!ended()) {
    const int first = choose();
    bool went_on = false;
    for (int i = 0; i < pes && !went_on; ++i) {
      SimulatedPe& pe = all[static_cast<size_t>((first + i) % pes)];
      went_on = !pe.done() && pe.go_on();
    }
    std::string waiting;
    for (const SimulatedPe& pe : all) waiting += went_on || pe.done() ? "" : pe.where() + "; ";
    expect(went_on, "nobody can go on: %s", waiting.c_str());
  }
}

Calls calls_for(int pes) {
  const uint64_t n = static_cast<uint64_t>(pes);
  return {1, 2, 0, n, 0, 0, 3 * n + 1, n + 1, 1, 1, 0, 5, 0};
}

constexpr int kPes[] = {1, 2, 3, 4, 5, 8, 16};

void in_random_orders_every_pe_gets_every_result() {
  for (const int pes : kPes) {
    for (unsigned seed = 0; seed < 40; ++seed) {
      std::mt19937 random(seed);
      const bool direct = seed % 2 == 0;
      simulate(pes, calls_for(pes), direct, [&] { return static_cast<int>(random() % static_cast<unsigned>(pes)); });
    }
  }
}

// One PE runs as far ahead of the others as they let it, then the next.
void with_one_pe_always_first_nothing_is_overwritten() {
  for (const int pes : kPes) {
    for (int fast = 0; fast < pes; ++fast) {
      for (const bool direct : {false, true}) simulate(pes, calls_for(pes), direct, [&] { return fast; });
    }
  }
}

// Nobody but the last in the order goes on, unless all others wait.
void with_one_pe_always_last_nothing_is_overwritten() {
  for (const int pes : kPes) {
    for (int slow = 0; slow < pes; ++slow) {
      std::mt19937 random(7);
      for (const bool direct : {false, true}) {
        simulate(pes, calls_for(pes), direct, [&] {
          const int chosen = static_cast<int>(random() % static_cast<unsigned>(pes));
          return chosen == slow ? (slow + 1) % pes : chosen;
        });
      }
    }
  }
}

void data_goes_to_the_next_pe_only() {
  for (const int pes : kPes) {
    for (int pe = 0; pe < pes; ++pe) {
      const Ring ring = {pe, pes, 10};
      expect(ring.after() == (pe + 1) % pes && ring.before() == (pe + pes - 1) % pes, "PE %d of %d", pe, pes);
      expect(ring.reader_of(kernels::kSumSent) == ring.after() && ring.reader_of(kernels::kResultSent) == ring.after(),
             "PE %d of %d sends elsewhere", pe, pes);
    }
  }
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"in_random_orders_every_pe_gets_every_result", in_random_orders_every_pe_gets_every_result},
       {"with_one_pe_always_first_nothing_is_overwritten", with_one_pe_always_first_nothing_is_overwritten},
       {"with_one_pe_always_last_nothing_is_overwritten", with_one_pe_always_last_nothing_is_overwritten},
       {"data_goes_to_the_next_pe_only", data_goes_to_the_next_pe_only}});
}
