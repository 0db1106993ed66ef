// Folds a run of elements that lies at every PE into one, by a block, and stores the result in several places at once.
#ifndef SPARKGAP_REDUCE_FOLD_CUH
#define SPARKGAP_REDUCE_FOLD_CUH

#include "protocol/copy.cuh"
#include "reduce/elements.cuh"

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

template <class Element, class Operation, class Vector, int kInFlight>
__device__ __forceinline__ void fold_vectors(const Fold& fold, uint64_t first, uint64_t count) {
  using Stored = typename Element::Stored;
  using Wide = typename Element::Wide;
  constexpr int kElements = sizeof(Vector) / sizeof(Stored);
  union Pack {
    Vector vector;
    Stored elements[kElements];
  };
  // Vectors this thread has at once: base, base + blockDim, ...
  for (uint64_t base = first + threadIdx.x; base < first + count; base += kInFlight * blockDim.x) {
    Wide sums[kInFlight][kElements];
    for (int32_t pe = 0; pe < fold.pes; ++pe) {
      const Vector* from = static_cast<const Vector*>(fold.from[pe]);
      Pack packs[kInFlight];
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
        const uint64_t i = base + k * blockDim.x;
        if (i < first + count) packs[k].vector = load_fresh(from + i);
      }
#pragma unroll
      for (int k = 0; k < kInFlight; ++k) {
#pragma unroll
        for (int e = 0; e < kElements; ++e) {
          const Wide value = Element::widen(packs[k].elements[e]);
          sums[k][e] = pe == 0 ? value : Operation::combine(sums[k][e], value);
        }
      }
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      const uint64_t i = base + k * blockDim.x;
      if (i >= first + count) break;
      Pack pack;
#pragma unroll
      for (int e = 0; e < kElements; ++e) pack.elements[e] = Element::narrow(divide(sums[k][e], fold.divisor));
      for (int32_t t = 0; t < fold.targets; ++t) static_cast<Vector*>(fold.to[t])[i] = pack.vector;
    }
  }
}

template <class Element, class Operation>
__device__ __noinline__ void fold_elements(const Fold& fold) {
  using Stored = typename Element::Stored;
  constexpr uint64_t kInVector = sizeof(uint4) / sizeof(Stored);
  uint64_t done = 0;
  if (fold.vectors) {
    const uint64_t vectors = fold.count / kInVector;
    fold_vectors<Element, Operation, uint4, sizeof(Stored) < 4 ? 1 : 2>(fold, 0, vectors);
    done = vectors * kInVector;
  }
  fold_vectors<Element, Operation, Stored, 1>(fold, done, fold.count - done);
}

__device__ inline void fold_block(const Fold& fold, int32_t type, int32_t op) {
  with_element(type, op,
               [&](auto element, auto operation) { fold_elements<decltype(element), decltype(operation)>(fold); });
}

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_REDUCE_FOLD_CUH
