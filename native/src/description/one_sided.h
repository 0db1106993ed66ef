// One one-sided call, as its caller made it: the same struct from the C interface through the world to its engine, or
// to a step that keeps it.
#ifndef SPARKGAP_DESCRIPTION_ONE_SIDED_H
#define SPARKGAP_DESCRIPTION_ONE_SIDED_H

#include <cstdint>

#include "sparkgap/sparkgap.h"

namespace sparkgap {

class SymmetricMemory;

// What a call does not have is 0 here.
struct OneSidedCall {
  int32_t operation;  // SPARKGAP_PUT...
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

// "putSignal"
constexpr const char* name_of(const OneSidedCall& call) {
  switch (call.operation) {
    case SPARKGAP_PUT:
      return "put";
    case SPARKGAP_GET:
      return "get";
    case SPARKGAP_PUT_SIGNAL:
      return "putSignal";
    case SPARKGAP_SIGNAL:
      return "signal";
    case SPARKGAP_WAIT_SIGNAL:
      return "waitSignal";
    default:
      return "fetchAdd";
  }
}

// What is put or got, or else the word.
constexpr uint64_t counted_bytes(const OneSidedCall& call) {
  return call.operation <= SPARKGAP_PUT_SIGNAL ? call.bytes : sizeof(int64_t);
}

constexpr OneSidedCall put_call(const SymmetricMemory* dst, uint64_t offset, const void* src, uint64_t bytes,
                                int32_t pe) {
  return {SPARKGAP_PUT, pe, dst, offset, src, nullptr, bytes, nullptr, 0, 0, 0, nullptr};
}

constexpr OneSidedCall get_call(void* dst, const SymmetricMemory* src, uint64_t offset, uint64_t bytes, int32_t pe) {
  return {SPARKGAP_GET, pe, src, offset, nullptr, dst, bytes, nullptr, 0, 0, 0, nullptr};
}

// The put comes first.
constexpr OneSidedCall put_signal_call(const OneSidedCall& put, const OneSidedCall& signal) {
  OneSidedCall both = put;
  both.operation = SPARKGAP_PUT_SIGNAL;
  both.word = signal.word;
  both.word_offset = signal.word_offset;
  both.value = signal.value;
  both.how = signal.how;
  return both;
}

constexpr OneSidedCall signal_call(const SymmetricMemory* memory, uint64_t offset, int64_t value, int32_t signal_op,
                                   int32_t pe) {
  return {SPARKGAP_SIGNAL, pe, nullptr, 0, nullptr, nullptr, 0, memory, offset, value, signal_op, nullptr};
}

constexpr OneSidedCall wait_signal_call(const SymmetricMemory* memory, uint64_t offset, int32_t comparison,
                                        int64_t value, int64_t* observed) {
  return {SPARKGAP_WAIT_SIGNAL, -1, nullptr, 0, nullptr, nullptr, 0, memory, offset, value, comparison, observed};
}

constexpr OneSidedCall fetch_add_call(const SymmetricMemory* memory, uint64_t offset, int64_t delta, int32_t pe,
                                      int64_t* before) {
  return {SPARKGAP_FETCH_ADD, pe, nullptr, 0, nullptr, nullptr, 0, memory, offset, delta, 0, before};
}

}  // namespace sparkgap

#endif  // SPARKGAP_DESCRIPTION_ONE_SIDED_H
