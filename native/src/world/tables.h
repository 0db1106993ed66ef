// The tuning tables that a world was given, and the one that it goes by.
#ifndef SPARKGAP_WORLD_TABLES_H
#define SPARKGAP_WORLD_TABLES_H

#include <cstdint>
#include <string>
#include <vector>

#include "select/table.h"

namespace sparkgap {

class Tables {
 public:
  // Throws INVALID_ARGUMENT if one is wrong in itself; there are none then.
  void give(const sparkgap_tuning_table* tables, int32_t count);
  // Takes the first that fits.
  void choose(const Circumstances& circumstances);

  // Whether for some it matters what the world's CPU or GPU is.
  bool name_a_device() const;

  // nullptr: none.
  const TuningTable* table() const { return chosen_; }
  TableRows rows_of(int32_t collective) const {
    return chosen_ == nullptr ? TableRows{} : chosen_->rows_of(collective);
  }
  // Of all that were given; 0 if none was.
  uint64_t digest() const;
  // Which is in use, and why others are not.
  const std::string& told() const { return told_; }

 private:
  std::vector<TuningTable> given_;
  const TuningTable* chosen_ = nullptr;
  std::string told_;
};

}  // namespace sparkgap

#endif  // SPARKGAP_WORLD_TABLES_H
