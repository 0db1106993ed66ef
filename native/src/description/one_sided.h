// One one-sided call, as its caller made it: the same struct from the C interface through the world to its engine, or
// to a step that keeps it.
#ifndef SPARKGAP_DESCRIPTION_ONE_SIDED_H
#define SPARKGAP_DESCRIPTION_ONE_SIDED_H

#include <cstdint>

namespace sparkgap {

class SymmetricMemory;

enum class OneSided : int32_t { kPut, kGet, kSignal, kWaitSignal, kFetchAdd };

// What a call does not have is 0 here.
struct OneSidedCall {
  OneSided kind;
  const char* name;               // what its caller called: a putSignal is a put and a signal
  const SymmetricMemory* memory;  // may be nullptr for no bytes
  uint64_t offset;
  const void* src;  // put
  void* dst;        // get
  uint64_t bytes;   // put, get
  int64_t value;    // of a signal, to compare with, or to add
  int32_t how;      // SPARKGAP_SIGNAL_SET..., SPARKGAP_EQ...
  int32_t pe;
  int64_t* found;  // waitSignal, fetchAdd: where the word goes that was there, or nullptr
};

constexpr OneSidedCall put_call(const char* name, const SymmetricMemory* dst, uint64_t offset, const void* src,
                                uint64_t bytes, int32_t pe) {
  return {OneSided::kPut, name, dst, offset, src, nullptr, bytes, 0, 0, pe, nullptr};
}

constexpr OneSidedCall get_call(void* dst, const SymmetricMemory* src, uint64_t offset, uint64_t bytes, int32_t pe) {
  return {OneSided::kGet, "get", src, offset, nullptr, dst, bytes, 0, 0, pe, nullptr};
}

constexpr OneSidedCall signal_call(const char* name, const SymmetricMemory* memory, uint64_t offset, int64_t value,
                                   int32_t signal_op, int32_t pe) {
  return {OneSided::kSignal, name, memory, offset, nullptr, nullptr, 0, value, signal_op, pe, nullptr};
}

constexpr OneSidedCall wait_signal_call(const SymmetricMemory* memory, uint64_t offset, int32_t comparison,
                                        int64_t value, int64_t* observed) {
  return {OneSided::kWaitSignal, "waitSignal", memory, offset, nullptr, nullptr, 0, value, comparison, -1, observed};
}

constexpr OneSidedCall fetch_add_call(const SymmetricMemory* memory, uint64_t offset, int64_t delta, int32_t pe,
                                      int64_t* before) {
  return {OneSided::kFetchAdd, "fetchAdd", memory, offset, nullptr, nullptr, 0, delta, 0, pe, before};
}

}  // namespace sparkgap

#endif  // SPARKGAP_DESCRIPTION_ONE_SIDED_H
