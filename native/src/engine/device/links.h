// How the PEs of a GPU world reach each other: what each PE has found out, put together alike on all of them.
#ifndef SPARKGAP_ENGINE_DEVICE_LINKS_H
#define SPARKGAP_ENGINE_DEVICE_LINKS_H

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "protocol/kernel_world.h"

namespace sparkgap {

// One PE's links to those of its node, in their order; SPARKGAP_LINK_SHM where it does not know better.
struct LinkRow {
  int32_t to[kernels::kMaxPes];
  bool lacks_atomics[kernels::kMaxPes];  // this PE's GPU cannot add to what is in that PE's memory at once
};

class Links {
 public:
  Links() = default;
  // One row of each PE, in PE order. Of two PEs that disagree (one without NVML), the one that knows is right; of two
  // that know, the lower.
  explicit Links(const std::vector<LinkRow>& rows);

  int32_t between(int32_t a, int32_t b) const { return rows_[static_cast<size_t>(a)].to[b]; }
  // Whether any two PEs are linked so.
  bool has(int32_t link) const;
  // ", linked by NVLink": for logs; nothing for a world of one PE.
  void describe(Text& text) const;

 private:
  std::vector<LinkRow> rows_;
};

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_DEVICE_LINKS_H
