#include "engine/device/links.h"

#include "sparkgap/sparkgap.h"

namespace sparkgap {
namespace {

struct Kind {
  int32_t link;
  const char* name;
};

constexpr Kind kKinds[] = {
    {SPARKGAP_LINK_NVLINK, "NVLink"}, {SPARKGAP_LINK_PCIE, "PCI Express"}, {SPARKGAP_LINK_SHM, "shared memory"}};

}  // namespace

Links::Links(const std::vector<LinkRow>& rows) : rows_(rows) {
  for (size_t a = 0; a < rows_.size(); ++a) {
    for (size_t b = a + 1; b < rows_.size(); ++b) {
      int32_t& there = rows_[a].to[b];
      int32_t& back = rows_[b].to[a];
      if (there == SPARKGAP_LINK_SHM) there = back;
      back = there;
    }
  }
}

bool Links::has(int32_t link) const {
  for (size_t a = 0; a < rows_.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      if (rows_[a].to[b] == link) return true;
    }
  }
  return false;
}

void Links::describe(Text& text) const {
  const char* before = ", linked by ";
  for (const Kind& kind : kKinds) {
    if (!has(kind.link)) continue;
    text.add("%s%s", before, kind.name);
    before = " and ";
  }
}

}  // namespace sparkgap
