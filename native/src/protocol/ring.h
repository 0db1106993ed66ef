// Who waits for whom in a ring: the order of the all-reduce of that name, as plain functions of host and device.
//
// PE 0 sends its piece to PE 1, which adds its own and sends the sum to PE 2, and so on; the last PE has the sum in PE
// order and sends the result on round the ring, to 0, 1, ... and the last but one. A PE writes data to the PE after it
// and to no other.
//
// Each PE goes through rounds. In round t it adds to piece t and passes on the result of piece t - pes, which the last
// PE has by then; the last PE has its results from its additions and needs no further rounds. A round first waits, then
// works, then publishes, so that each costs one wait, whatever it does.
//
//   pes = 3     round 0   1   2   3   4   ...
//   PE 0        a0  a1  a2  a3 r0  a4 r1    a: add to the piece and send the sum on
//   PE 1        a0  a1  a2  a3 r0  a4 r1    r: take the result and send it on
//   PE 2        a0  a1  a2  a3     a4       (begins late by as many rounds as its number, so the columns slant)
//
// Words. Each PE has, by parity of the piece's number, one word of each kind of RingWord. The PE before it publishes
// there what it has put into this PE's slots, the PE after it what it has taken from its own.
//
// What makes overwriting safe. There are two slots of a kind by parity, and number k + 2 may overwrite what number k
// has left as soon as that has been taken: a sender waits for the word that says so. The words themselves are
// overwritten by the same rule: k + 2 is published only after the taking of k has been seen, and that is published only
// after k has been; the taking of k + 2 only after k + 2 has come, which was sent after the taking of k was seen. So a
// wait for a number can look for exactly that one.
//
// Why no wait is for ever. Call the time of round t on PE p t + p. A round waits for a sum or a result of the same
// round on the PE before (one earlier), for the room of round t - 2 on the PE after (one earlier), on PE 0 for a result
// of round t - pes on the last PE (one earlier), on the last PE for the room of round t - 2 + pes on PE 0 (one
// earlier). So each waits for an earlier time only.
#ifndef SPARKGAP_PROTOCOL_RING_H
#define SPARKGAP_PROTOCOL_RING_H

#include <cstdint>

#include "sparkgap/device/host_device.h"

namespace sparkgap::kernels {

enum RingWord : int32_t {
  kSumSent = 0,  // written by the PE before: the sum so far is in this PE's slot
  kResultSent,   // written by the PE before: the result is in this PE's slot, or in its `out`
  kSumTaken,     // written by the PE after: it has read the sum
  kResultTaken,  // written by the PE after: it has read the result
  kRingWords,
};

constexpr uint64_t kNoPiece = ~0ull;

// Sent numbers that may be on their way: slots of each kind.
constexpr uint64_t kRingSlots = 2;

// One PE's part in it. Pieces are counted from 0 in each lane and call.
struct Ring {
  int32_t pe;
  int32_t pes;
  uint64_t pieces;

  SPARKGAP_HOST_DEVICE int32_t before() const { return pe == 0 ? pes - 1 : pe - 1; }
  SPARKGAP_HOST_DEVICE int32_t after() const { return is_last() ? 0 : pe + 1; }
  SPARKGAP_HOST_DEVICE bool is_first() const { return pe == 0; }
  SPARKGAP_HOST_DEVICE bool is_last() const { return pe == pes - 1; }
  // The last but one is where results end.
  SPARKGAP_HOST_DEVICE bool sends_results() const { return after() != pes - 1; }

  SPARKGAP_HOST_DEVICE uint64_t rounds() const { return is_last() ? pieces : pieces + static_cast<uint64_t>(pes); }

  // The piece that this PE adds to in a round.
  SPARKGAP_HOST_DEVICE uint64_t added(uint64_t round) const { return round < pieces ? round : kNoPiece; }

  // The piece whose result this PE takes from the one before it.
  SPARKGAP_HOST_DEVICE uint64_t taken(uint64_t round) const {
    const uint64_t delay = static_cast<uint64_t>(pes);
    return !is_last() && round >= delay && round - delay < pieces ? round - delay : kNoPiece;
  }

  // What `word` of this PE must show before the round; kNoPiece: nothing.
  SPARKGAP_HOST_DEVICE uint64_t awaited(uint64_t round, int32_t word) const {
    switch (word) {
      case kSumSent:
        return is_first() ? kNoPiece : added(round);
      case kResultSent:
        return taken(round);
      case kSumTaken:
        return overwritten(sum_sent(round));
      default:
        return overwritten(result_sent(round));
    }
  }

  // What this PE writes after the round into `word` of reader_of(word); kNoPiece: nothing.
  SPARKGAP_HOST_DEVICE uint64_t published(uint64_t round, int32_t word) const {
    switch (word) {
      case kSumSent:
        return sum_sent(round);
      case kResultSent:
        return result_sent(round);
      case kSumTaken:
        return is_first() ? kNoPiece : added(round);
      default:
        return taken(round);
    }
  }

  // Who writes a word of this PE, and whose word this PE writes.
  SPARKGAP_HOST_DEVICE int32_t writer_of(int32_t word) const { return word <= kResultSent ? before() : after(); }
  SPARKGAP_HOST_DEVICE int32_t reader_of(int32_t word) const { return word <= kResultSent ? after() : before(); }

 private:
  SPARKGAP_HOST_DEVICE uint64_t sum_sent(uint64_t round) const { return is_last() ? kNoPiece : added(round); }

  SPARKGAP_HOST_DEVICE uint64_t result_sent(uint64_t round) const {
    if (!sends_results()) return kNoPiece;
    return is_last() ? added(round) : taken(round);
  }

  static SPARKGAP_HOST_DEVICE uint64_t overwritten(uint64_t piece) {
    return piece == kNoPiece || piece < kRingSlots ? kNoPiece : piece - kRingSlots;
  }
};

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_PROTOCOL_RING_H
