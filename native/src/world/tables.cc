#include "world/tables.h"

#include <algorithm>
#include <utility>

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
  uint64_t digest = 0;
  for (const TuningTable& table : given_) digest = (digest ^ table.digest) * 0x9e3779b97f4a7c15u + 1;
  return digest;
}

}  // namespace sparkgap
