#include "world/tables.h"

#include <algorithm>
#include <utility>

#include "base/digest.h"
#include "base/error.h"

namespace sparkgap {

void Tables::give(const sparkgap_tuning_table* tables, int32_t count) {
  given_.clear();
  std::vector<TuningTable> given;
  for (int32_t i = 0; i < count; ++i) given.push_back(copy_table(tables[i]));
  given_ = std::move(given);
}

void Tables::choose(const Circumstances& circumstances) {
  chosen_ = nullptr;
  std::string passed_over;
  for (const TuningTable& table : given_) {
    char reason[256] = "";
    Text why_not(reason, sizeof reason);
    if (fits(table, circumstances, why_not)) {
      chosen_ = &table;
      break;
    }
    passed_over += (passed_over.empty() ? "passed over " : ", ") + table.name + " (" + reason + ")";
  }
  told_ = chosen_ == nullptr ? "" : "table " + chosen_->name;
  if (!passed_over.empty()) told_ += (told_.empty() ? "" : "; ") + passed_over;
}

bool Tables::name_a_device() const {
  return std::any_of(given_.begin(), given_.end(), [](const TuningTable& table) { return !table.device.empty(); });
}

uint64_t Tables::digest() const {
  if (given_.empty()) return 0;
  Digest digest;
  for (const TuningTable& table : given_) digest.add(table.digest);
  return digest.value();
}

}  // namespace sparkgap
