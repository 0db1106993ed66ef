// A call that exchanges rows, as its caller made it, and what follows from its shape. For kernels, too.
#ifndef SPARKGAP_DESCRIPTION_ROWS_H
#define SPARKGAP_DESCRIPTION_ROWS_H

#include <cstdint>

#include "description/types.h"
#include "sparkgap/device/host_device.h"
#include "sparkgap/sparkgap.h"

namespace sparkgap {

class SymmetricMemory;

// A shape that has been checked, worked out for a world. Offsets are into each PE's part of the buffer.
//
//   +-------------+  0
//   | RowsHead    |
//   +-------------+  counts_at
//   | int32_t     |  [local expert]
//   +-------------+  places_at
//   | RowPlace    |  [row][top]: where this PE's rows went in the last dispatch; not there without experts
//   +-------------+  weights_at
//   | float       |  [local expert][capacity]; likewise
//   +-------------+  scales_at
//   | float       |  [local expert][capacity][group of a row]; of float8 alone
//   +-------------+  received_at
//   | rows        |  [local expert][capacity]
//   +-------------+  results_at
//   | rows        |  [local expert][capacity]; likewise
//   +-------------+  bytes
struct RowsPlan {
  int32_t type;
  int32_t pes;
  int32_t experts;  // PEs, where rows go to those
  int32_t top;      // 1 there
  bool to_experts;
  bool float8;  // as which rows travel
  uint64_t width;
  uint64_t row_bytes;
  uint64_t received_bytes;  // of a row that has come
  uint64_t rows;
  uint64_t capacity;
  uint64_t counts_at;
  uint64_t places_at;
  uint64_t weights_at;
  uint64_t scales_at;
  uint64_t received_at;
  uint64_t results_at;
  uint64_t bytes;

  // All local experts of a PE begin with its first; of the last PE the first is `experts`.
  SPARKGAP_HOST_DEVICE constexpr int32_t first_expert(int32_t pe) const {
    return static_cast<int32_t>(static_cast<int64_t>(pe) * experts / pes);
  }
  SPARKGAP_HOST_DEVICE constexpr int32_t owner(int32_t expert) const {
    return static_cast<int32_t>((static_cast<int64_t>(expert + 1) * pes - 1) / experts);
  }
  SPARKGAP_HOST_DEVICE constexpr int32_t most_local_experts() const { return (experts + pes - 1) / pes; }
};

// What is alike in all layouts.
struct RowsHead {
  uint64_t dispatched;  // rows that this PE gave in its last dispatch
};

// Where one row went for one entry of its table: a PE, and the row's number among all that the PE can receive.
struct RowPlace {
  int32_t pe;  // -1: nowhere
  uint32_t row;
};

// What a call does not have is 0 here.
struct RowsCall {
  int32_t operation;        // SPARKGAP_DISPATCH, SPARKGAP_COMBINE or SPARKGAP_EXCHANGE_ROWS
  uint32_t buffer;          // its number
  uint64_t* shape_of_rows;  // of the buffer
  RowsPlan plan;
  const SymmetricMemory* memory;
  const void* in;
  void* out;
  const int32_t* indices;
  const float* weights;
  uint64_t rows;
};

constexpr bool is_rows_operation(int32_t operation) {
  return operation >= SPARKGAP_DISPATCH && operation <= SPARKGAP_EXCHANGE_ROWS;
}

constexpr const char* rows_operation_name(int32_t operation) {
  return operation == SPARKGAP_DISPATCH ? "dispatch" : operation == SPARKGAP_COMBINE ? "combine" : "exchangeRows";
}

// Bytes of rows that a PE gives, or gets.
constexpr uint64_t counted_bytes(const RowsCall& call) { return call.rows * call.plan.row_bytes; }

}  // namespace sparkgap

#endif  // SPARKGAP_DESCRIPTION_ROWS_H
