#include "support/calls.h"

#include <algorithm>
#include <cstring>

#include "description/types.h"
#include "support/reference.h"

namespace sparkgap::test {
namespace {

// A prime, so that no chunk of an algorithm repeats another.
constexpr uint64_t kPool = 65521;

uint64_t elements_of(Array array, uint64_t count, int pes) {
  // An allToAllv's blocks: see Exchange.
  if (array.extent == Extent::kTable) return (count + 1) * pes + 1;
  return count * blocks_of(array, pes);
}

}  // namespace

uint64_t in_count(int32_t collective, uint64_t count, int pes) {
  return elements_of(kCollectives[collective].in, count, pes);
}

uint64_t out_count(int32_t collective, uint64_t count, int pes) {
  return elements_of(kCollectives[collective].out, count, pes);
}

std::vector<Run> runs_of(int32_t collective, uint64_t count, int32_t root, uint64_t salt, int pe, int pes) {
  const Exchange exchange = {count, salt};
  const uint64_t own = pe * count;
  std::vector<Run> runs;
  switch (collective) {
    case SPARKGAP_ALL_REDUCE:
    case SPARKGAP_REDUCE:
      return {{0, 0, count, kAllPes}};
    case SPARKGAP_REDUCE_SCATTER:
      return {{0, own, count, kAllPes}};
    case SPARKGAP_BROADCAST:
      return {{0, 0, count, root}};
    case SPARKGAP_ALL_GATHER:
      for (int from = 0; from < pes; ++from) runs.push_back({from * count, 0, count, from});
      return runs;
    case SPARKGAP_ALL_TO_ALL:
      for (int from = 0; from < pes; ++from) runs.push_back({from * count, own, count, from});
      return runs;
    case SPARKGAP_ALL_TO_ALLV:
      for (int from = 0; from < pes; ++from) {
        runs.push_back({exchange.offset(pe, from), exchange.offset(from, pe), exchange.count(from, pe), from});
      }
      return runs;
    default:
      return {};
  }
}

InPlaceOffsets in_place_offsets(int32_t collective, uint64_t count, int pe) {
  switch (kCollectives[collective].in_place) {
    case InPlace::kOutIsBlockOfIn:
      return {0, pe * count};
    case InPlace::kInIsBlockOfOut:
      return {pe * count, 0};
    default:
      return {0, 0};
  }
}

uint64_t Exchange::count(int from, int to) const {
  const uint64_t low = static_cast<uint64_t>(std::min(from, to));
  const uint64_t high = static_cast<uint64_t>(std::max(from, to));
  const uint64_t mixed = (low * 31 + high * 17 + salt) * 0x9e3779b97f4a7c15u;
  return mixed % 4 == 0 ? 0 : (mixed >> 20) % (most + 1);
}

uint64_t Exchange::offset(int pe, int peer) const {
  uint64_t offset = 1;
  for (int i = 0; i < peer; ++i) offset += count(pe, i) + 1;
  return offset;
}

uint64_t hash(const char* bytes, uint64_t size) {
  uint64_t hash = 0xcbf29ce484222325u;
  uint64_t at = 0;
  for (; at + 8 <= size; at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes + at, 8);
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 29;
  }
  for (; at < size; ++at) hash = (hash ^ static_cast<unsigned char>(bytes[at])) * 0x100000001b3u;
  return hash;
}

Inputs::Inputs(int pes, Elements elements) : pools_(SPARKGAP_TYPES) {
  for (int32_t type = 0; type < SPARKGAP_TYPES; ++type) {
    for (int pe = 0; pe < pes; ++pe) {
      pools_[type].push_back(elements == Elements::kAny ? random_elements(type, kPool, static_cast<uint64_t>(pe) + 1)
                                                        : small_whole_elements(type, kPool, pe));
    }
  }
}

void Inputs::fill(void* to, int32_t type, int pe, uint64_t first, uint64_t count, uint64_t salt) const {
  const uint64_t bytes = bytes_of(type);
  const char* pool = pools_[type][pe].data();
  char* next = static_cast<char*>(to);
  uint64_t at = (first + salt * 7919) % kPool;
  while (count > 0) {
    const uint64_t piece = std::min(count, kPool - at);
    std::memcpy(next, pool + at * bytes, piece * bytes);
    next += piece * bytes;
    count -= piece;
    at = 0;
  }
}

}  // namespace sparkgap::test
