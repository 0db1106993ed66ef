// The words of 8 bytes that messages in packets and lines are cut into.
#ifndef SPARKGAP_DEVICE_WORDS_CUH
#define SPARKGAP_DEVICE_WORDS_CUH

#include "sparkgap/device/elements.cuh"
#include "sparkgap/device/packet.cuh"

namespace sparkgap::device {

// A word of a message and the elements in it.
template <class Stored>
union Word {
  uint64_t bits;
  Stored elements[kWordBytes / sizeof(Stored)];
};

// Where the message is not aligned, and for a last word that is not whole: rare, and kept out of the kernels' way.
template <class Stored>
static __device__ __noinline__ uint64_t load_elements(const uint8_t* message, uint32_t at, uint32_t bytes) {
  Word<Stored> word;
  word.bits = 0;
#pragma unroll
  for (uint32_t e = 0; e < kWordBytes / sizeof(Stored); ++e) {
    const uint32_t from = at + e * sizeof(Stored);
    if (from < bytes) word.elements[e] = *reinterpret_cast<const Stored*>(message + from);
  }
  return word.bits;
}

template <class Stored>
static __device__ __noinline__ void store_elements(uint8_t* message, uint32_t at, uint32_t bytes, uint64_t bits) {
  Word<Stored> word;
  word.bits = bits;
#pragma unroll
  for (uint32_t e = 0; e < kWordBytes / sizeof(Stored); ++e) {
    const uint32_t to = at + e * sizeof(Stored);
    if (to < bytes) *reinterpret_cast<Stored*>(message + to) = word.elements[e];
  }
}

// The word at `at`, a multiple of 8 below `bytes`; of the last only the elements that there are.
template <class Stored>
__device__ __forceinline__ uint64_t load_word(const uint8_t* message, uint32_t at, uint32_t bytes) {
  if (reinterpret_cast<uint64_t>(message) % kWordBytes == 0 && at + kWordBytes <= bytes) {
    return *reinterpret_cast<const uint64_t*>(message + at);
  }
  return load_elements<Stored>(message, at, bytes);
}

template <class Stored>
__device__ __forceinline__ void store_word(uint8_t* message, uint32_t at, uint32_t bytes, uint64_t bits) {
  if (reinterpret_cast<uint64_t>(message) % kWordBytes == 0 && at + kWordBytes <= bytes) {
    *reinterpret_cast<uint64_t*>(message + at) = bits;
  } else {
    store_elements<Stored>(message, at, bytes, bits);
  }
}

// The two words at `at`, a multiple of 16 below `bytes`; 0 where the message has ended.
template <class Stored>
__device__ __forceinline__ void load_line(const uint8_t* message, uint32_t at, uint32_t bytes, uint64_t* low,
                                          uint64_t* high) {
  if (reinterpret_cast<uint64_t>(message) % sizeof(Line) == 0 && at + sizeof(Line) <= bytes) {
    const ulonglong2 both = *reinterpret_cast<const ulonglong2*>(message + at);
    *low = both.x;
    *high = both.y;
    return;
  }
  *low = load_word<Stored>(message, at, bytes);
  *high = at + kWordBytes < bytes ? load_word<Stored>(message, at + kWordBytes, bytes) : 0;
}

template <class Stored>
__device__ __forceinline__ void store_line(uint8_t* message, uint32_t at, uint32_t bytes, uint64_t low, uint64_t high) {
  if (reinterpret_cast<uint64_t>(message) % sizeof(Line) == 0 && at + sizeof(Line) <= bytes) {
    *reinterpret_cast<ulonglong2*>(message + at) = {low, high};
    return;
  }
  store_word<Stored>(message, at, bytes, low);
  if (at + kWordBytes < bytes) store_word<Stored>(message, at + kWordBytes, bytes, high);
}

// The sum so far of one word's elements.
template <class Element>
struct WordSum {
  using Stored = typename Element::Stored;
  static constexpr int kElements = kWordBytes / sizeof(Stored);
  typename Element::Wide values[kElements];

  __device__ __forceinline__ void start(uint64_t bits) {
    Word<Stored> word;
    word.bits = bits;
#pragma unroll
    for (int e = 0; e < kElements; ++e) values[e] = Element::widen(word.elements[e]);
  }

  template <class Operation>
  __device__ __forceinline__ void add(uint64_t bits) {
    Word<Stored> word;
    word.bits = bits;
#pragma unroll
    for (int e = 0; e < kElements; ++e) values[e] = Operation::combine(values[e], Element::widen(word.elements[e]));
  }

  __device__ __forceinline__ uint64_t result(int32_t divisor) const {
    Word<Stored> word;
#pragma unroll
    for (int e = 0; e < kElements; ++e) word.elements[e] = Element::narrow(divide(values[e], divisor));
    return word.bits;
  }
};

}  // namespace sparkgap::device

#endif  // SPARKGAP_DEVICE_WORDS_CUH
