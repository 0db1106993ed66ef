// How a world chooses: for each collective the rows that its calls go by, made once of what is held, of a tuning table
// and of the rules that are built in. Then a choice is a walk over a few numbers: nothing is allocated, nothing asked.
//
// The tables of functions of all engines and the kernels' launch shapes are looked up by what this says. Belongs to the
// world's thread; plain memory, so that both libraries read it.
#ifndef SPARKGAP_SELECT_ROUTES_H
#define SPARKGAP_SELECT_ROUTES_H

#include <cstdint>

#include "description/algorithms.h"
#include "select/select.h"

namespace sparkgap {

// Why a call takes the route that it takes.
enum class Reason : int32_t { kRule = 0, kTable, kHeld };

// A row of a tuning table. `shape.blocks` 0: as the rules that are built in have it.
struct TableRow {
  uint64_t bytes;
  Algorithm algorithm;
  kernels::Shape shape;
};

// The rows of one collective; none: it goes by the rules.
struct TableRows {
  const TableRow* rows = nullptr;
  int32_t count = 0;
};

class Routes {
 public:
  // Of a table; what is held and the rules come besides.
  static constexpr int32_t kMostTableRows = 32;

  struct Choice {
    Algorithm algorithm;
    Reason reason;
  };

  // Makes the rows of `collective` anew. `held`: kAuto, or what it is held to as far as that can carry the message.
  void make(int32_t collective, const Circumstances& circumstances, const TableRows& table, Algorithm held);
  // Of all, by the rules alone.
  void make(const Circumstances& circumstances);

  // What a message of `bytes` takes; `bytes` is what one PE gives.
  Algorithm choose(int32_t collective, uint64_t bytes) const { return row_for(collective, bytes).algorithm; }
  Choice choice(int32_t collective, uint64_t bytes) const {
    const Row& row = row_for(collective, bytes);
    return {row.algorithm, row.reason};
  }

  // What it takes if some PE's array cannot be read by the others.
  Algorithm choose_for_any_memory(int32_t collective, uint64_t bytes) const {
    const Row* row = rows_[collective];
    while (bytes > row->bytes || needs_readable_arrays(row->algorithm)) ++row;
    return row->algorithm;
  }

  // Whether calls of any size go by it.
  bool takes(Algorithm algorithm) const;

  // How the kernel of `algorithm` is launched for that size, also where another algorithm is chosen.
  kernels::Shape shape(int32_t collective, Algorithm algorithm, uint64_t bytes) const {
    const Row* row = rows_[collective];
    for (int32_t i = 0; i < counts_[collective]; ++i) {
      if (row[i].algorithm != algorithm || bytes > row[i].bytes || shapes_[collective][i].blocks == 0) continue;
      return shapes_[collective][i];
    }
    return kernels::tuned_shape(*tuning_, collective, algorithm, bytes, pes_, lanes_);
  }

 private:
  // A table's, one that is held, and the rules, of which no world has more than these.
  static constexpr int32_t kMostRows = kMostTableRows + 16;

  struct Row {
    uint64_t bytes = UINT64_MAX;
    Algorithm algorithm;
    Reason reason;
  };

  const Row& row_for(int32_t collective, uint64_t bytes) const {
    const Row* row = rows_[collective];
    while (bytes > row->bytes) ++row;
    return *row;
  }

  // The last row of each is for all sizes and any memory.
  Row rows_[SPARKGAP_COLLECTIVES][kMostRows] = {};
  kernels::Shape shapes_[SPARKGAP_COLLECTIVES][kMostRows] = {};
  int32_t counts_[SPARKGAP_COLLECTIVES] = {};
  const kernels::Tuning* tuning_ = nullptr;
  int32_t pes_ = 1;
  int32_t lanes_ = 0;
};

}  // namespace sparkgap

#endif  // SPARKGAP_SELECT_ROUTES_H
