#include "collective/host_nodes.h"

#include <algorithm>
#include <cstring>

#include "collective/host_algorithms.h"
#include "description/types.h"

namespace sparkgap {
namespace {

// An average over more PEs than nodes is that of the nodes' sums and of zeros: of blocks of this size, by type.
constexpr uint64_t kZeroBytes = 4096;
constexpr uint64_t kOneTripBytes = 32 << 10;
constexpr uint64_t kLeastOneTripBytes = 512;

// A sum with -0 is what it was before, whatever that is.
template <class Word>
void fill(uint8_t* to, Word word) {
  for (uint64_t at = 0; at < kZeroBytes; at += sizeof word) std::memcpy(to + at, &word, sizeof word);
}

std::unique_ptr<uint8_t[]> make_zeros() {
  auto zeros = std::make_unique<uint8_t[]>(SPARKGAP_TYPES * kZeroBytes);
  std::memset(zeros.get(), 0, SPARKGAP_TYPES * kZeroBytes);
  fill<uint32_t>(zeros.get() + SPARKGAP_FLOAT32 * kZeroBytes, 0x80000000u);
  fill<uint64_t>(zeros.get() + SPARKGAP_FLOAT64 * kZeroBytes, 0x8000000000000000u);
  fill<uint16_t>(zeros.get() + SPARKGAP_FLOAT16 * kZeroBytes, 0x8000u);
  fill<uint16_t>(zeros.get() + SPARKGAP_BFLOAT16 * kZeroBytes, 0x8000u);
  return zeros;
}

}  // namespace

HostNodes::HostNodes(HostNode& near, Nodes& nodes, int32_t pe)
    : near_(near),
      nodes_(nodes),
      channels_(nodes.channels()),
      map_(nodes.map()),
      pe_(pe),
      pes_(map_.first(map_.nodes())),
      scratch_(std::make_unique<uint8_t[]>(std::max(
          kScratchSlots * channels_.message_bytes(),
          static_cast<uint64_t>(map_.nodes()) * one_trip_bytes(pes_, map_.smallest(), channels_.message_bytes())))),
      zeros_(make_zeros()) {}

uint64_t HostNodes::one_trip_bytes(int32_t pes, int32_t smallest_node, uint64_t message_bytes) {
  const uint64_t far = static_cast<uint64_t>(pes - smallest_node);
  return std::clamp(kOneTripBytes / far, kLeastOneTripBytes, message_bytes);
}

uint64_t HostNodes::most_partners(int32_t pes) const {
  uint64_t partners = 0;
  for (int32_t node = 0; node < map_.nodes(); ++node) {
    partners += static_cast<uint64_t>((map_.size(node) + pes - 1) / pes);
  }
  return partners;
}

Finish::Finish(HostNodes& nodes, const CollectiveCall& call)
    : zeros_(nodes.zeros_.get() + static_cast<uint64_t>(call.type) * kZeroBytes),
      nodes_(nodes.map().nodes()),
      pes_(nodes.pes()),
      divides_by_more_(call.op == SPARKGAP_AVG && nodes_ != pes_),
      element_bytes_(element_bytes(call.type)),
      sum_(reduce_function(call.type, call.op == SPARKGAP_AVG ? static_cast<int32_t>(SPARKGAP_SUM) : call.op)),
      last_(reduce_to_out(call)) {}

void Finish::operator()(void* out, const void* const* parts, uint64_t bytes) const {
  if (!divides_by_more_) return last_(out, parts, nodes_, bytes / element_bytes_);
  const void* ins[SPARKGAP_MAX_PES];
  for (int32_t i = nodes_; i < pes_; ++i) ins[i] = zeros_;
  for (uint64_t first = 0; first < bytes; first += kZeroBytes) {
    for (int32_t node = 0; node < nodes_; ++node) ins[node] = static_cast<const uint8_t*>(parts[node]) + first;
    last_(static_cast<uint8_t*>(out) + first, ins, pes_, std::min(kZeroBytes, bytes - first) / element_bytes_);
  }
}

}  // namespace sparkgap
