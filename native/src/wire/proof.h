// Proof that a connection is made by a PE of the world: a keyed hash (SipHash-2-4) of who connects to whom, in which
// epoch, and of a number that only this listener has. The key itself never travels over the wire.
#ifndef SPARKGAP_WIRE_PROOF_H
#define SPARKGAP_WIRE_PROOF_H

#include <cstddef>
#include <cstdint>

namespace sparkgap {

// Of the side that connects, and of the side that accepts.
enum class ProofRole : uint32_t { kConnects = 1, kAccepts = 2 };

struct ProofSubject {
  uint64_t epoch;
  uint64_t listener;  // the listener's random number
  uint64_t nonce;     // the connecting side's
  int32_t from;
  int32_t to;
};

struct Proof {
  uint64_t words[2];
};

Proof prove(const uint64_t key[2], ProofRole role, const ProofSubject& subject);

// In a time that does not depend on where they differ.
bool same(const Proof& a, const Proof& b);

uint64_t siphash(const uint64_t key[2], const void* data, size_t bytes);

}  // namespace sparkgap

#endif  // SPARKGAP_WIRE_PROOF_H
