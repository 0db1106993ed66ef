// A line: 120 bytes of data and their mark in 128 bytes, stored by eight neighbouring threads of a warp at once.
// Between GPUs over NVLink such a store arrives as a whole, so who sees the mark has the data, as with a packet; the
// price is a fifteenth of the bytes instead of as many again. (NCCL's LL128 rests on the same.) Not over PCI Express,
// which may take it apart.
//
//   thread  0         1         ...  6           7
//           words 0 1 words 2 3      words 12 13 word 14, mark
#ifndef SPARKGAP_PROTOCOL_LINE_CUH
#define SPARKGAP_PROTOCOL_LINE_CUH

#include "protocol/packet.cuh"

namespace sparkgap::kernels {

constexpr uint32_t kLineThreads = sizeof(Line) / 16;
constexpr uint32_t kWarpLines = 32 / kLineThreads;
constexpr uint32_t kWholeWarp = 0xffffffffu;

// A thread's part of a line: which words, and whether the second is the mark.
struct LinePart {
  uint32_t thread;
  __device__ LinePart() : thread(threadIdx.x % kLineThreads) {}
  __device__ bool has_mark() const { return thread == kLineThreads - 1; }
  __device__ uint32_t first_word(uint32_t line) const { return line * static_cast<uint32_t>(kLineWords) + 2 * thread; }
};

__device__ __forceinline__ uint64_t mark_of(const Stamp& stamp) {
  return static_cast<uint64_t>(stamp.signature) << 32 | stamp.number;
}

// All eight threads of a line together.
__device__ __forceinline__ void store_line_part(Line* line, const LinePart& part, uint64_t first, uint64_t second) {
  asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(reinterpret_cast<uint64_t*>(line) + 2 * part.thread),
               "l"(first), "l"(second)
               : "memory");
}

// The whole warp together: kLines lines for each of its eights, of which those below `count` are awaited; line i is at
// lines[i * stride]. False for all if a wait gave up.
template <int kLines>
__device__ __forceinline__ bool receive_line_parts(const KernelWorld& world, const Awaited& awaited,
                                                   const LinePart& part, const Line* lines, uint32_t stride,
                                                   uint32_t count, uint64_t (&first)[kLines],
                                                   uint64_t (&second)[kLines]) {
  const uint64_t mark = mark_of({awaited.number, awaited.signature});
  const uint64_t* from = reinterpret_cast<const uint64_t*>(lines) + 2 * part.thread;
  Looks looks = 0;
  for (uint32_t polls = 1;; ++polls) {
    uint64_t seen = mark;
#pragma unroll
    for (uint32_t i = 0; i < kLines; ++i) {
      if (i < count) {
        asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
                     : "=l"(first[i]), "=l"(second[i])
                     : "l"(from + i * (stride * (sizeof(Line) / sizeof(uint64_t))))
                     : "memory");
        if (part.has_mark() && second[i] != mark) seen = second[i];
      }
    }
    if (!__any_sync(kWholeWarp, seen != mark)) return true;
    if (polls % kPollsBetweenLooks != 0) continue;
    if (seen != mark) {
      looks = look(world, awaited, {static_cast<uint32_t>(seen), static_cast<uint32_t>(seen >> 32)}, looks);
    }
    if (__any_sync(kWholeWarp, looks == kGaveUp)) return false;
  }
}

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_PROTOCOL_LINE_CUH
