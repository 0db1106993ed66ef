// Loads and stores on words that several PEs share. The words are plain integers in shared memory, so that a CUDA
// kernel can name the same ones with its own system-scope operations.
#ifndef SPARKGAP_PROTOCOL_ATOMICS_H
#define SPARKGAP_PROTOCOL_ATOMICS_H

#include <immintrin.h>

#include <cstdint>

namespace sparkgap {

template <class Word>
inline Word load_acquire(const Word* word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

template <class Word>
inline Word load_relaxed(const Word* word) {
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

template <class Word, class Value>
inline void store_release(Word* word, Value value) {
  __atomic_store_n(word, static_cast<Word>(value), __ATOMIC_RELEASE);
}

template <class Word, class Value>
inline void store_relaxed(Word* word, Value value) {
  __atomic_store_n(word, static_cast<Word>(value), __ATOMIC_RELAXED);
}

inline void cpu_pause() { _mm_pause(); }

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_ATOMICS_H
