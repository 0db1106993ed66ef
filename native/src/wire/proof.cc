#include "wire/proof.h"

#include <cstring>

namespace sparkgap {
namespace {

uint64_t rotate(uint64_t value, int bits) { return value << bits | value >> (64 - bits); }

struct State {
  uint64_t v[4];

  void round() {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
  }

  void absorb(uint64_t word) {
    v[3] ^= word;
    round();
    round();
    v[0] ^= word;
  }
};

}  // namespace

uint64_t siphash(const uint64_t key[2], const void* data, size_t bytes) {
  State state = {{key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du, key[0] ^ 0x6c7967656e657261u,
                  key[1] ^ 0x7465646279746573u}};
  const uint8_t* at = static_cast<const uint8_t*>(data);
  const uint8_t* last = at + bytes / 8 * 8;
  for (; at != last; at += 8) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    state.absorb(word);
  }
  uint64_t tail = static_cast<uint64_t>(bytes) << 56;
  for (size_t i = 0; i < bytes % 8; ++i) tail |= static_cast<uint64_t>(at[i]) << 8 * i;
  state.absorb(tail);
  state.v[2] ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v[0] ^ state.v[1] ^ state.v[2] ^ state.v[3];
}

Proof prove(const uint64_t key[2], ProofRole role, const ProofSubject& subject) {
  Proof proof;
  for (uint64_t word = 0; word < 2; ++word) {
    const uint64_t message[] = {
        word << 32 | static_cast<uint32_t>(role), subject.epoch, subject.listener, subject.nonce,
        static_cast<uint64_t>(static_cast<uint32_t>(subject.from)) << 32 | static_cast<uint32_t>(subject.to)};
    proof.words[word] = siphash(key, message, sizeof message);
  }
  return proof;
}

bool same(const Proof& a, const Proof& b) { return ((a.words[0] ^ b.words[0]) | (a.words[1] ^ b.words[1])) == 0; }

}  // namespace sparkgap
