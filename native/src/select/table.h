// Tuning tables: what worlds like the one that a table is for were measured to do best (docs/tuning.md).
#ifndef SPARKGAP_SELECT_TABLE_H
#define SPARKGAP_SELECT_TABLE_H

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "select/routes.h"

namespace sparkgap {

struct MeasuredTime {
  Algorithm algorithm;
  uint64_t bytes;
  double us;
};

struct TuningTable {
  std::string name;
  std::string provider;
  std::string device;
  std::string nvshmem;
  std::string nccl;
  int32_t link = -1;
  int32_t pes[2] = {};
  int32_t nodes[2] = {};
  int32_t lanes[2] = {};
  bool shared = false;
  std::vector<TableRow> rows[SPARKGAP_COLLECTIVES];
  std::vector<MeasuredTime> times[SPARKGAP_COLLECTIVES];
  uint64_t digest = 0;  // of all of it

  TableRows rows_of(int32_t collective) const {
    return {rows[collective].data(), static_cast<int32_t>(rows[collective].size())};
  }
  // Microseconds that were measured, or between two that were; 0 outside of them.
  double time_of(int32_t collective, Algorithm algorithm, uint64_t bytes) const;
};

// Throws INVALID_ARGUMENT with the table's name, the row, and what is wrong with it.
TuningTable copy_table(const sparkgap_tuning_table& given);

// The key of a table that is for such a world and no other: `fits` takes it for this one. No name and no rows.
TuningTable key_of(const Circumstances& circumstances);

// Adds why the table is not for such a world; nothing if it is.
bool fits(const TuningTable& table, const Circumstances& circumstances, Text& why_not);

}  // namespace sparkgap

#endif  // SPARKGAP_SELECT_TABLE_H
