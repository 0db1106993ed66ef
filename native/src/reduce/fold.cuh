// Folds a run of elements that lies at every PE into one, by a block or a part of it, and stores the result in several
// places at once.
#ifndef SPARKGAP_REDUCE_FOLD_CUH
#define SPARKGAP_REDUCE_FOLD_CUH

#include "protocol/scratch.h"
#include "sparkgap/device/copy.cuh"
#include "sparkgap/device/elements.cuh"

namespace sparkgap::kernels {

// `count` elements. The tables are in shared memory, filled before the block meets: from[pe] is where PE pe's elements
// are, to[i] for i < targets where results go. A target may be one of the sources.
struct Fold {
  const void* from[kMaxPes];
  void* to[kMaxPes];
  int32_t pes;
  int32_t targets;
  uint64_t count;
  int32_t divisor;  // 0: none
  bool vectors;     // all addresses are aligned to 16 bytes
};

// One step of the fold, for some elements at once. The branch is the same for the whole block and costs little beside
// the loads; a kernel for each operation would cost four times the code.
template <class Wide, int kElements>
__device__ __forceinline__ void combine(Wide (&sums)[kElements], const Wide (&values)[kElements], int32_t op) {
  const auto each = [&](auto operation) {
#pragma unroll
    for (int e = 0; e < kElements; ++e) sums[e] = decltype(operation)::combine(sums[e], values[e]);
  };
  switch (op) {
    case SPARKGAP_PROD:
      return each(Product());
    case SPARKGAP_MIN:
      return each(Minimum());
    case SPARKGAP_MAX:
      return each(Maximum());
    default:
      return each(Sum());
  }
}

template <class Element, class Vector, int kInFlight>
__device__ __forceinline__ void fold_vectors(const Fold& fold, int32_t op, uint64_t first, uint64_t end,
                                             const Team& team) {
  using Stored = typename Element::Stored;
  using Wide = typename Element::Wide;
  constexpr int kElements = sizeof(Vector) / sizeof(Stored);
  union Pack {
    Vector vector;
    Stored elements[kElements];
  };
  // Vectors this thread has at once: base, base + team.threads, ...
  for (uint64_t base = first + team.thread; base < end; base += kInFlight * team.threads) {
    Wide sums[kInFlight][kElements];
    for (int32_t pe = 0; pe < fold.pes; ++pe) {
      const Vector* from = static_cast<const Vector*>(fold.from[pe]) + base;
      Pack packs[kInFlight];
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        if (base + k * team.threads < end) packs[k].vector = load_fresh(from + k * team.threads);
      }
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        Wide values[kElements];
#pragma unroll
        for (int e = 0; e < kElements; ++e) values[e] = Element::widen(packs[k].elements[e]);
        if (pe == 0) {
#pragma unroll
          for (int e = 0; e < kElements; ++e) sums[k][e] = values[e];
        } else {
          combine(sums[k], values, op);
        }
      }
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      if (base + k * team.threads >= end) break;
      Pack pack;
#pragma unroll
      for (int e = 0; e < kElements; ++e) pack.elements[e] = Element::narrow(divide(sums[k][e], fold.divisor));
      for (int32_t t = 0; t < fold.targets; ++t) {
        static_cast<Vector*>(fold.to[t])[base + k * team.threads] = pack.vector;
      }
    }
  }
}

template <class Element>
__device__ __forceinline__ void fold_by(const Team& team, const Fold& fold, int32_t op) {
  using Stored = typename Element::Stored;
  constexpr uint64_t kInVector = sizeof(uint4) / sizeof(Stored);
  uint64_t done = 0;
  if (fold.vectors) {
    const uint64_t vectors = fold.count / kInVector;
    fold_vectors<Element, uint4, sizeof(Stored) == 1 ? 1 : 2>(fold, op, 0, vectors, team);
    done = vectors * kInVector;
  }
  fold_vectors<Element, Stored, 1>(fold, op, done, fold.count, team);
}

// By `thread` of `threads`. Not inlined: it is called once for many elements, and has all registers to itself.
template <class Element>
__device__ __noinline__ void fold_shared(uint32_t thread, uint32_t threads, const Fold* fold, int32_t op) {
  fold_by<Element>({thread, threads}, *fold, op);
}

template <class Element>
__device__ __forceinline__ void fold_block(const Fold& fold, int32_t op) {
  fold_by<Element>(whole_block(), fold, op);
}

// The same for two PEs, into one place: vectors begin to end, by `thread` of `threads`; of both PEs kInFlight are on
// their way at once.
template <class Element, class Operation, class Vector, int kInFlight>
__device__ __forceinline__ void fold_pair_vectors(void* to, const void* first, const void* second, uint32_t begin,
                                                  uint32_t end, int32_t divisor, uint32_t thread, uint32_t threads) {
  using Stored = typename Element::Stored;
  constexpr int kElements = sizeof(Vector) / sizeof(Stored);
  union Pack {
    Vector vector;
    Stored elements[kElements];
  };
#pragma unroll 1
  for (uint32_t base = begin + thread; base < end; base += kInFlight * threads) {
    Pack a[kInFlight], b[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const uint32_t at = base + k * threads;
      if (at >= end) continue;
      a[k].vector = load_fresh(static_cast<const Vector*>(first) + at);
      b[k].vector = load_fresh(static_cast<const Vector*>(second) + at);
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const uint32_t at = base + k * threads;
      if (at >= end) continue;
      Pack result;
#pragma unroll
      for (int e = 0; e < kElements; ++e) {
        const auto sum = Operation::combine(Element::widen(a[k].elements[e]), Element::widen(b[k].elements[e]));
        result.elements[e] = Element::narrow(divide(sum, divisor));
      }
      static_cast<Vector*>(to)[at] = result.vector;
    }
  }
}

template <class Element, class Operation>
__device__ __forceinline__ void fold_pair(void* to, const void* first, const void* second, uint32_t count,
                                          int32_t divisor, uint32_t thread, uint32_t threads) {
  using Stored = typename Element::Stored;
  constexpr uint32_t kInVector = sizeof(uint4) / sizeof(Stored);
  const uint64_t together =
      reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(first) | reinterpret_cast<uint64_t>(second);
  uint32_t done = 0;
  if (together % sizeof(uint4) == 0) {
    const uint32_t vectors = count / kInVector;
    fold_pair_vectors<Element, Operation, uint4, sizeof(Stored) == 1 ? 2 : 4>(to, first, second, 0, vectors, divisor,
                                                                              thread, threads);
    done = vectors * kInVector;
  }
  fold_pair_vectors<Element, Operation, Stored, 4>(to, first, second, done, count, divisor, thread, threads);
}

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_REDUCE_FOLD_CUH
