// Compiled once for each instruction set level, with SPARKGAP_KERNELS (the name of the table below) and SPARKGAP_ISA
// (the level's name) defined. Everything but the table has internal linkage, and no header with inline functions of its
// own is included: else the linker could keep the copy that needs AVX-512 for everybody.
#include "reduce/kernels.h"

#include <immintrin.h>

#include <type_traits>

namespace sparkgap {
namespace {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
// The intrinsics without a mask pass an uninitialised vector that g++ 12 warns of; these compile to the same.
constexpr __mmask16 kAllLanes = 0xffff;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

// Vectors in flight in the main loop.
constexpr int kUnroll = 4;

// W lanes of T: a compiler vector, or plain T for one lane. Both know the operators and ?: that the operations need.
template <class T, int W>
struct Lanes {
  typedef T type __attribute__((vector_size(sizeof(T) * W)));
};
template <class T>
struct Lanes<T, 1> {
  using type = T;
};
template <class T, int W>
using Vec = typename Lanes<T, W>::type;

template <class To, class From>
inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

template <class V>
inline V load(const void* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

template <class V>
inline void store(void* to, V v) {
  __builtin_memcpy(to, &v, sizeof v);
}

// `to` is aligned to the vector.
template <class V>
inline void store_streaming(void* to, V v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) return _mm512_stream_si512(static_cast<__m512i*>(to), bits_as<__m512i>(v));
#endif
#if defined(__AVX__)
  if constexpr (sizeof(V) == 32) return _mm256_stream_si256(static_cast<__m256i*>(to), bits_as<__m256i>(v));
#endif
  if constexpr (sizeof(V) == 16) return _mm_stream_si128(static_cast<__m128i*>(to), bits_as<__m128i>(v));
  if constexpr (sizeof(V) == 8) return _mm_stream_si64(static_cast<long long*>(to), bits_as<long long>(v));
}

// ---- Element types: how an element is stored, and the value that it is reduced in.

template <class T>
struct Real {
  using Stored = T;
  template <bool kOrders>
  using Value = T;

  template <class V, int W>
  static V widen(Vec<T, W> stored) {
    return stored;
  }
  template <int W>
  static Vec<T, W> narrow(Vec<T, W> value) {
    return value;
  }
  template <int W>
  static Vec<T, W> divide(Vec<T, W> sum, int n) {
    return sum / static_cast<T>(n);
  }
};

// Sums and products are computed unsigned, so that they wrap; comparisons in the type itself. Quotient is a floating
// type wide enough that no quotient of T and an int up to SPARKGAP_MAX_PES rounds up to the next integer; or T.
template <class T, class Quotient>
struct Integer {
  using Stored = T;
  template <bool kOrders>
  using Value = std::conditional_t<kOrders, T, std::make_unsigned_t<T>>;

  template <class V, int W>
  static V widen(Vec<T, W> stored) {
    return bits_as<V>(stored);
  }
  template <int W, class V>
  static Vec<T, W> narrow(V value) {
    return bits_as<Vec<T, W>>(value);
  }
  template <int W, class V>
  static V divide(V sum, int n) {
    T lanes[W];
    __builtin_memcpy(lanes, &sum, sizeof lanes);
    const auto divisor = static_cast<Quotient>(n);
    for (int i = 0; i < W; ++i) lanes[i] = static_cast<T>(static_cast<Quotient>(lanes[i]) / divisor);
    return load<V>(lanes);
  }
};

// NaNs become quiet and keep what fits of their payload, as the F16C instructions do it.
template <int W>
inline Vec<float, W> float_from_half(Vec<uint16_t, W> half) {
#if defined(__AVX512F__)
  if constexpr (W == 16) return bits_as<Vec<float, W>>(_mm512_maskz_cvtph_ps(kAllLanes, bits_as<__m256i>(half)));
#endif
#if defined(__F16C__)
  if constexpr (W == 8) return bits_as<Vec<float, W>>(_mm256_cvtph_ps(bits_as<__m128i>(half)));
  if constexpr (W == 4) return bits_as<Vec<float, W>>(_mm_cvtph_ps(_mm_cvtsi64_si128(bits_as<long long>(half))));
  if constexpr (W == 1) return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(half)));
#else
  using Bits = Vec<uint32_t, W>;
  Bits wide;
  if constexpr (W == 1) {
    wide = half;
  } else {
    wide = __builtin_convertvector(half, Bits);
  }
  const Bits sign = (wide & 0x8000u) << 16;
  const Bits magnitude = (wide & 0x7fffu) << 13;
  // Normal numbers only need another exponent bias; infinity and NaN the largest exponent; a subnormal is taken as the
  // fraction of 2^-14 that it is, by adding the leading one and subtracting it as a float, which is exact.
  const Bits rebiased = magnitude + (112u << 23);
  const Bits special = (magnitude | 0x7f800000u) | (magnitude > (0x7c00u << 13) ? Bits{} + 0x400000u : Bits{});
  const Bits leading_one = Bits{} + (113u << 23);
  const Bits subnormal =
      bits_as<Bits>(bits_as<Vec<float, W>>(magnitude + leading_one) - bits_as<Vec<float, W>>(leading_one));
  const Bits finite = magnitude < (0x0400u << 13) ? subnormal : rebiased;
  return bits_as<Vec<float, W>>(sign | (magnitude >= (0x7c00u << 13) ? special : finite));
#endif
}

template <int W>
inline Vec<uint16_t, W> half_from_float(Vec<float, W> value) {
#if defined(__AVX512F__)
  if constexpr (W == 16) {
    return bits_as<Vec<uint16_t, W>>(
        _mm512_maskz_cvtps_ph(kAllLanes, bits_as<__m512>(value), _MM_FROUND_TO_NEAREST_INT));
  }
#endif
#if defined(__F16C__)
  if constexpr (W == 8) {
    return bits_as<Vec<uint16_t, W>>(_mm256_cvtps_ph(bits_as<__m256>(value), _MM_FROUND_TO_NEAREST_INT));
  }
  if constexpr (W == 4) {
    const __m128i half = _mm_cvtps_ph(bits_as<__m128>(value), _MM_FROUND_TO_NEAREST_INT);
    return bits_as<Vec<uint16_t, W>>(_mm_cvtsi128_si64(half));
  }
  if constexpr (W == 1) {
    return static_cast<uint16_t>(_mm_cvtsi128_si32(_mm_cvtps_ph(_mm_set_ss(value), _MM_FROUND_TO_NEAREST_INT)));
  }
#else
  using Bits = Vec<uint32_t, W>;
  const Bits bits = bits_as<Bits>(value);
  const Bits sign = (bits >> 16) & 0x8000u;
  const Bits magnitude = bits & 0x7fffffffu;
  // From 65520 on the rounding carries into the exponent of infinity by itself; beyond, infinity is all there is.
  const Bits largest = Bits{} + (143u << 23);
  const Bits clamped = magnitude < largest ? magnitude : largest;
  const Bits normal = (clamped - (112u << 23) + 0xfffu + ((clamped >> 13) & 1u)) >> 13;
  // Adding a half, whose last place is 2^-24, rounds to a multiple of the smallest subnormal.
  const Bits half = Bits{} + (126u << 23);
  const Bits subnormal = bits_as<Bits>(bits_as<Vec<float, W>>(clamped) + bits_as<Vec<float, W>>(half)) - half;
  const Bits nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  const Bits number = magnitude < (113u << 23) ? subnormal : normal;
  const Bits result = sign | (magnitude > (255u << 23) ? nan : number);
  if constexpr (W == 1) {
    return static_cast<uint16_t>(result);
  } else {
    return __builtin_convertvector(result, Vec<uint16_t, W>);
  }
#endif
}

struct Half {
  using Stored = uint16_t;
  template <bool kOrders>
  using Value = float;

  template <class V, int W>
  static V widen(Vec<uint16_t, W> stored) {
    return float_from_half<W>(stored);
  }
  template <int W>
  static Vec<uint16_t, W> narrow(Vec<float, W> value) {
    return half_from_float<W>(value);
  }
  template <int W>
  static Vec<float, W> divide(Vec<float, W> sum, int n) {
    return sum / static_cast<float>(n);
  }
};

struct Bfloat16 {
  using Stored = uint16_t;
  template <bool kOrders>
  using Value = float;

  template <class V, int W>
  static V widen(Vec<uint16_t, W> stored) {
    if constexpr (W == 1) {
      return bits_as<float>(static_cast<uint32_t>(stored) << 16);
    } else {
      return bits_as<V>(__builtin_convertvector(stored, Vec<uint32_t, W>) << 16);
    }
  }
  template <int W>
  static Vec<uint16_t, W> narrow(Vec<float, W> value) {
    using Bits = Vec<uint32_t, W>;
    const Bits bits = bits_as<Bits>(value);
    const Bits rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const Bits nan = (bits >> 16) | 0x40u;
    const Bits result = (bits & 0x7fffffffu) > (255u << 23) ? nan : rounded;
    if constexpr (W == 1) {
      return static_cast<uint16_t>(result);
    } else {
      return __builtin_convertvector(result, Vec<uint16_t, W>);
    }
  }
  template <int W>
  static Vec<float, W> divide(Vec<float, W> sum, int n) {
    return sum / static_cast<float>(n);
  }
};

// ---- Operations. kOrders: compares elements, so that their sign matters.

struct Sum {
  static constexpr bool kOrders = false;
  static constexpr bool kDivides = false;
  template <class V>
  static V combine(V a, V b) {
    return a + b;
  }
};

struct Average : Sum {
  static constexpr bool kDivides = true;
};

struct Product {
  static constexpr bool kOrders = false;
  static constexpr bool kDivides = false;
  template <class V>
  static V combine(V a, V b) {
    return a * b;
  }
};

// The first operand only if it is strictly smaller, or NaN, which is the only value that differs from itself.
struct Minimum {
  static constexpr bool kOrders = true;
  static constexpr bool kDivides = false;
  template <class V>
  static V combine(V a, V b) {
    return (a < b) | (a != a) ? a : b;
  }
};

struct Maximum {
  static constexpr bool kOrders = true;
  static constexpr bool kDivides = false;
  template <class V>
  static V combine(V a, V b) {
    return (a > b) | (a != a) ? a : b;
  }
};

// ---- Loops

// N inputs known at compile time, whose pointers stay in registers; N == 0: as many as n says.
template <int N>
struct Inputs {
  const char* from[N];
  explicit Inputs(const void* const* ins) {
    for (int k = 0; k < N; ++k) from[k] = static_cast<const char*>(ins[k]);
  }
  const char* operator[](int k) const { return from[k]; }
};
template <>
struct Inputs<0> {
  const void* const* from;
  explicit Inputs(const void* const* ins) : from(ins) {}
  const char* operator[](int k) const { return static_cast<const char*>(from[k]); }
};

// One pattern for all that is no number: which of two NaNs a sum keeps depends on the order in which the compiler gives
// them to the instruction, and so on whether an element is in a vector or by itself. PEs whose arrays are aligned
// differently would hold other bits.
template <int W, class Value>
inline Value with_one_nan(Value value) {
  if constexpr (W == 1) {
    if constexpr (std::is_floating_point_v<Value>) {
      return value == value ? value : static_cast<Value>(__builtin_nan(""));
    }
  } else {
    using Scalar = std::remove_reference_t<decltype(value[0])>;
    if constexpr (std::is_floating_point_v<Scalar>) {
      return value == value ? value : Value{} + static_cast<Scalar>(__builtin_nan(""));
    }
  }
  return value;
}

// U vectors of W lanes, starting at byte `at` of every array. All is loaded before anything is stored: out may be an
// in.
template <class Element, class Op, int W, int U, bool kStreaming, int N>
inline void reduce_block(char* out, const Inputs<N>& ins, int n, size_t at) {
  using Stored = Vec<typename Element::Stored, W>;
  using Value = Vec<typename Element::template Value<Op::kOrders>, W>;
  Value values[U];
#pragma GCC unroll 8
  for (int u = 0; u < U; ++u) {
    values[u] = Element::template widen<Value, W>(load<Stored>(ins[0] + at + u * sizeof(Stored)));
  }
  for (int k = 1; k < n; ++k) {
    const char* in = ins[k] + at;
#pragma GCC unroll 8
    for (int u = 0; u < U; ++u) {
      const Value next = Element::template widen<Value, W>(load<Stored>(in + u * sizeof(Stored)));
      values[u] = static_cast<Value>(Op::template combine<Value>(values[u], next));
    }
  }
#pragma GCC unroll 8
  for (int u = 0; u < U; ++u) {
    if constexpr (Op::kDivides) values[u] = Element::template divide<W>(values[u], n);
    values[u] = with_one_nan<W>(values[u]);
    const Stored result = Element::template narrow<W>(values[u]);
    if constexpr (kStreaming) {
      store_streaming(out + at + u * sizeof(Stored), result);
    } else {
      store(out + at + u * sizeof(Stored), result);
    }
  }
}

// The rest, by ever narrower vectors down to single elements.
template <class Element, class Op, int W, int N>
inline void reduce_narrowing(char* out, const Inputs<N>& ins, int n, size_t at, size_t end) {
  constexpr size_t kStep = W * sizeof(typename Element::Stored);
  for (; at + kStep <= end; at += kStep) reduce_block<Element, Op, W, 1, false>(out, ins, n, at);
  if constexpr (W > 1) {
    constexpr bool kNarrowest = W * sizeof(typename Element::template Value<Op::kOrders>) <= 16;
    if (at < end) reduce_narrowing<Element, Op, kNarrowest ? 1 : W / 2>(out, ins, n, at, end);
  }
}

// A function of its own, so that the streaming loop and the other share its code.
template <class Element, class Op, int N>
__attribute__((noinline)) void reduce_rest(char* out, const void* const* in_pointers, int n, size_t at, size_t end) {
  using Value = typename Element::template Value<Op::kOrders>;
  reduce_narrowing<Element, Op, kVectorBytes / sizeof(Value)>(out, Inputs<N>(in_pointers), N == 0 ? n : N, at, end);
}

template <class Element, class Op, bool kStreaming, int N>
void reduce_all(char* out, const void* const* in_pointers, int inputs, size_t count) {
  using Value = typename Element::template Value<Op::kOrders>;
  constexpr int kLanes = kVectorBytes / sizeof(Value);
  constexpr size_t kElement = sizeof(typename Element::Stored);
  constexpr size_t kVector = kLanes * kElement;
  const Inputs<N> ins(in_pointers);
  const int n = N == 0 ? inputs : N;
  const size_t end = count * kElement;
  size_t at = 0;
  if constexpr (kStreaming) {
    for (; at < end && reinterpret_cast<uintptr_t>(out + at) % kVector != 0; at += kElement) {
      reduce_block<Element, Op, 1, 1, false>(out, ins, n, at);
    }
  }
  for (; at + kUnroll * kVector <= end; at += kUnroll * kVector) {
    reduce_block<Element, Op, kLanes, kUnroll, kStreaming>(out, ins, n, at);
  }
  if (at < end) reduce_rest<Element, Op, N>(out, in_pointers, n, at, end);
  if constexpr (kStreaming) _mm_sfence();
}

template <class Element, class Op, bool kStreaming>
void reduce(void* out, const void* const* ins, int n, size_t count) {
  char* to = static_cast<char*>(out);
  switch (n) {
    case 2:
      return reduce_all<Element, Op, kStreaming, 2>(to, ins, n, count);
    case 4:
      return reduce_all<Element, Op, kStreaming, 4>(to, ins, n, count);
    default:
      return reduce_all<Element, Op, kStreaming, 0>(to, ins, n, count);
  }
}

void copy_past_caches(void* dst, const void* src, size_t bytes) {
  typedef char Bytes __attribute__((vector_size(kVectorBytes)));
  char* to = static_cast<char*>(dst);
  const char* from = static_cast<const char*>(src);
  const size_t misaligned = reinterpret_cast<uintptr_t>(to) % kVectorBytes;
  const size_t head = misaligned == 0 ? 0 : kVectorBytes - misaligned;
  if (head >= bytes) {
    __builtin_memcpy(to, from, bytes);
    return;
  }
  __builtin_memcpy(to, from, head);
  size_t at = head;
  for (; at + kUnroll * kVectorBytes <= bytes; at += kUnroll * kVectorBytes) {
    Bytes block[kUnroll];
#pragma GCC unroll 8
    for (int u = 0; u < kUnroll; ++u) block[u] = load<Bytes>(from + at + u * kVectorBytes);
#pragma GCC unroll 8
    for (int u = 0; u < kUnroll; ++u) store_streaming(to + at + u * kVectorBytes, block[u]);
  }
  __builtin_memcpy(to + at, from + at, bytes - at);
  _mm_sfence();
}

// ---- The table

template <class Element, bool kStreaming>
constexpr void fill_row(ReduceFunction (&row)[SPARKGAP_OPS]) {
  row[SPARKGAP_SUM] = reduce<Element, Sum, kStreaming>;
  row[SPARKGAP_PROD] = reduce<Element, Product, kStreaming>;
  row[SPARKGAP_MIN] = reduce<Element, Minimum, kStreaming>;
  row[SPARKGAP_MAX] = reduce<Element, Maximum, kStreaming>;
  row[SPARKGAP_AVG] = reduce<Element, Average, kStreaming>;
}

template <bool kStreaming>
constexpr void fill(ReduceFunction (&table)[SPARKGAP_TYPES][SPARKGAP_OPS]) {
  fill_row<Real<float>, kStreaming>(table[SPARKGAP_FLOAT32]);
  fill_row<Real<double>, kStreaming>(table[SPARKGAP_FLOAT64]);
  fill_row<Half, kStreaming>(table[SPARKGAP_FLOAT16]);
  fill_row<Bfloat16, kStreaming>(table[SPARKGAP_BFLOAT16]);
  fill_row<Integer<int8_t, float>, kStreaming>(table[SPARKGAP_INT8]);
  fill_row<Integer<uint8_t, float>, kStreaming>(table[SPARKGAP_UINT8]);
  fill_row<Integer<int32_t, double>, kStreaming>(table[SPARKGAP_INT32]);
  fill_row<Integer<int64_t, int64_t>, kStreaming>(table[SPARKGAP_INT64]);
}

constexpr Kernels make_kernels() {
  Kernels kernels{SPARKGAP_ISA, {}, {}, copy_past_caches};
  fill<false>(kernels.reduce);
  fill<true>(kernels.reduce_streaming);
  return kernels;
}

}  // namespace

extern const Kernels SPARKGAP_KERNELS = make_kernels();

}  // namespace sparkgap
