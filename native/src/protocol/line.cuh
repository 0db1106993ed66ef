// A line: two words of a message, stored at once by one thread, with nothing beside them: so the link carries the
// message and no more. Words travel veiled, XOR a constant, and whoever takes a line leaves zeros in its place: a word
// that is not zero has come. (The scheme is known after Lamport; TensorRT-LLM has a floating-point zero for the mark.)
//
// Of all words one is zero under the veil. It is hidden: a byte beside the line says which of its words its zeros stand
// for. Whoever has waited for long looks there. Data like that is as right as any other, and slow.
//
// Every half of 8 bytes is seen by itself, so it does not matter whether a link takes a line apart.
#ifndef SPARKGAP_PROTOCOL_LINE_CUH
#define SPARKGAP_PROTOCOL_LINE_CUH

#include "protocol/wait.cuh"
#include "sparkgap/device/packet.cuh"

namespace sparkgap::kernels {

constexpr uint64_t kVeil = 0x9e3779b97f4a7c15u;
constexpr uint32_t kWholeWarp = 0xffffffffu;

// Words of a line as bits: 1 the low one, 2 the high one.
__device__ __forceinline__ uint32_t zeros_of(uint64_t low, uint64_t high) {
  return (low == 0 ? 1u : 0u) | (high == 0 ? 2u : 0u);
}

// `words`: those that there are; the low one always.
__device__ __forceinline__ void send_line(Line* line, uint8_t* hidden, uint32_t words, uint64_t low, uint64_t high) {
  low ^= kVeil;
  high = (words & 2) != 0 ? high ^ kVeil : 0;
  const uint32_t zeros = zeros_of(low, high) & words;
  if (zeros != 0) *const_cast<volatile uint8_t*>(hidden) = static_cast<uint8_t>(zeros);
  // A line of zeros alone might arrive when its place is in use again.
  if (zeros == words) return;
  asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(line), "l"(low), "l"(high) : "memory");
}

// The lines of a thread, one every `stride`.
struct AwaitedLines {
  Line* lines;
  uint8_t* hidden;
  uint32_t stride;
};

// The whole warp together: takes kLines lines for each of its threads, of which those have come whose words[i] is 0,
// and leaves zeros. `greeting`: the packet that says what call the source has made. False for all if a wait gave up.
template <int kLines>
__device__ __forceinline__ bool receive_lines(const KernelWorld& world, const Awaited& awaited, const Packet* greeting,
                                              const AwaitedLines& from, const uint32_t (&words)[kLines],
                                              uint64_t (&low)[kLines], uint64_t (&high)[kLines]) {
  uint32_t missing[kLines];
#pragma unroll
  for (uint32_t i = 0; i < kLines; ++i) missing[i] = words[i];
  Looks looks = 0;
  for (uint32_t polls = 1;; ++polls) {
#pragma unroll
    for (uint32_t i = 0; i < kLines; ++i) {
      if (missing[i] == 0) continue;
      asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                   : "=l"(low[i]), "=l"(high[i])
                   : "l"(from.lines + i * from.stride)
                   : "memory");
    }
    uint32_t any = 0;
#pragma unroll
    for (uint32_t i = 0; i < kLines; ++i) {
      if (missing[i] != 0) missing[i] = words[i] & zeros_of(low[i], high[i]);
      any |= missing[i];
    }
    if (!__any_sync(kWholeWarp, any != 0)) break;
    if (polls % kPollsBetweenLooks != 0) continue;
#pragma unroll
    for (uint32_t i = 0; i < kLines; ++i) {
      volatile uint8_t* hidden = from.hidden + i * from.stride;
      if (missing[i] == 0 || (missing[i] & ~*hidden) != 0) continue;
      missing[i] = 0;
      *hidden = 0;
    }
    if (any != 0) {
      const volatile uint32_t* seen = &greeting->number;
      looks = look(world, awaited, {seen[0], seen[2] ^ awaited.number}, looks);
    }
    if (__any_sync(kWholeWarp, looks == kGaveUp)) return false;
  }
#pragma unroll
  for (uint32_t i = 0; i < kLines; ++i) {
    if (words[i] == 0) continue;
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %1};" ::"l"(from.lines + i * from.stride), "l"(0ull) : "memory");
    low[i] ^= kVeil;
    high[i] ^= kVeil;
  }
  return true;
}

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_PROTOCOL_LINE_CUH
