// One one-sided call, as its caller made it: the same struct from the C interface through the world to its engine, or
// to a step that keeps it.
#ifndef SPARKGAP_DESCRIPTION_ONE_SIDED_H
#define SPARKGAP_DESCRIPTION_ONE_SIDED_H

#include <cstdint>

namespace sparkgap {

class SymmetricMemory;

enum class OneSided : int32_t { kPut, kGet, kPutSignal, kSignal, kWaitSignal, kFetchAdd };

constexpr const char* kOneSidedNames[] = {"put", "get", "putSignal", "signal", "waitSignal", "fetchAdd"};

// What a call does not have is 0 here.
struct OneSidedCall {
  OneSided kind;
  int32_t pe;
  // What is copied: a range of `pe`'s part, and this PE's memory, which is read or written.
  const SymmetricMemory* data;  // may be nullptr for no bytes
  uint64_t data_offset;
  const void* src;
  void* dst;
  uint64_t bytes;
  // The word that is set, added to or waited for.
  const SymmetricMemory* word;
  uint64_t word_offset;
  int64_t value;
  int32_t how;     // SPARKGAP_SIGNAL_SET..., SPARKGAP_EQ...
  int64_t* found;  // where the word goes that was there, or nullptr
};

constexpr OneSidedCall put_call(const SymmetricMemory* dst, uint64_t offset, const void* src, uint64_t bytes,
                                int32_t pe) {
  return {OneSided::kPut, pe, dst, offset, src, nullptr, bytes, nullptr, 0, 0, 0, nullptr};
}

constexpr OneSidedCall get_call(void* dst, const SymmetricMemory* src, uint64_t offset, uint64_t bytes, int32_t pe) {
  return {OneSided::kGet, pe, src, offset, nullptr, dst, bytes, nullptr, 0, 0, 0, nullptr};
}

// The put comes first.
constexpr OneSidedCall put_signal_call(const OneSidedCall& put, const OneSidedCall& signal) {
  OneSidedCall both = put;
  both.kind = OneSided::kPutSignal;
  both.word = signal.word;
  both.word_offset = signal.word_offset;
  both.value = signal.value;
  both.how = signal.how;
  return both;
}

constexpr OneSidedCall signal_call(const SymmetricMemory* memory, uint64_t offset, int64_t value, int32_t signal_op,
                                   int32_t pe) {
  return {OneSided::kSignal, pe, nullptr, 0, nullptr, nullptr, 0, memory, offset, value, signal_op, nullptr};
}

constexpr OneSidedCall wait_signal_call(const SymmetricMemory* memory, uint64_t offset, int32_t comparison,
                                        int64_t value, int64_t* observed) {
  return {OneSided::kWaitSignal, -1, nullptr, 0, nullptr, nullptr, 0, memory, offset, value, comparison, observed};
}

constexpr OneSidedCall fetch_add_call(const SymmetricMemory* memory, uint64_t offset, int64_t delta, int32_t pe,
                                      int64_t* before) {
  return {OneSided::kFetchAdd, pe, nullptr, 0, nullptr, nullptr, 0, memory, offset, delta, 0, before};
}

}  // namespace sparkgap

#endif  // SPARKGAP_DESCRIPTION_ONE_SIDED_H
