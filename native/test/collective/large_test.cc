// Arrays of more than 2^31 bytes, where a size kept in 32 bits would show.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "support/check.h"
#include "support/pes.h"

namespace sparkgap::test {
namespace {

constexpr uint64_t kCount = (uint64_t{1} << 31) + 5;

// What each PE's array is filled with, over and over: a length that no power of two divides, so that a piece that lands
// elsewhere shows.
using Pattern = std::array<unsigned char, 251 * 1021>;

Pattern pattern_of(int pe) {
  Pattern pattern;
  for (size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<unsigned char>(i % 251 * (pe + 1) + i / 251);
  return pattern;
}

Pattern sum_of_patterns() {
  const Pattern a = pattern_of(0);
  const Pattern b = pattern_of(1);
  Pattern sum;
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = static_cast<unsigned char>(a[i] + b[i]);
  return sum;
}

void fill(unsigned char* array, uint64_t count, const Pattern& pattern) {
  for (uint64_t at = 0; at < count; at += pattern.size()) {
    std::memcpy(array + at, pattern.data(), std::min<uint64_t>(pattern.size(), count - at));
  }
}

void check(const unsigned char* array, uint64_t count, const Pattern& pattern) {
  for (uint64_t at = 0; at < count; at += pattern.size()) {
    const uint64_t piece = std::min<uint64_t>(pattern.size(), count - at);
    if (std::memcmp(array + at, pattern.data(), piece) == 0) continue;
    uint64_t wrong = 0;
    while (array[at + wrong] == pattern[wrong]) ++wrong;
    expect(false, "element %lu is %d, not %d", at + wrong, array[at + wrong], pattern[wrong]);
  }
}

// Whether two processes can have so many arrays of 2^31 bytes each.
bool there_is_room(uint64_t arrays) {
  const uint64_t free = static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t wanted = 2 * arrays * kCount + (uint64_t{1} << 30);
  if (free >= wanted) return true;
  std::printf("     skipped: wants %lu MiB of memory; there are %lu\n", wanted >> 20, free >> 20);
  return false;
}

Pes two_processes() {
  Pes pes{2};
  pes.deadline_seconds = 240;
  pes.peer_timeout_ms = 120000;
  return pes;
}

void all_reduce_in_private_memory() {
  if (!there_is_room(1)) return;
  run_pes(two_processes(), [](const Pe& pe) {
    const std::unique_ptr<unsigned char[]> array(new unsigned char[kCount]);
    fill(array.get(), kCount, pattern_of(pe.pe()));
    pe.ok(sparkgap_all_reduce(pe.world(), array.get(), array.get(), kCount, SPARKGAP_UINT8, SPARKGAP_SUM),
          "sparkgap_all_reduce");
    check(array.get(), kCount, sum_of_patterns());
  });
}

void all_reduce_and_put_in_symmetric_memory() {
  if (!there_is_room(1)) return;
  run_pes(two_processes(), [](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(kCount);
    auto* array = static_cast<unsigned char*>(sparkgap_buffer_address(buffer));
    fill(array, kCount, pattern_of(pe.pe()));
    pe.ok(sparkgap_all_reduce(pe.world(), array, array, kCount, SPARKGAP_UINT8, SPARKGAP_SUM), "sparkgap_all_reduce");
    check(array, kCount, sum_of_patterns());
    pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");

    const int64_t value = 1000 + pe.pe();
    const uint64_t far = kCount - sizeof value;
    const int peer = 1 - pe.pe();
    pe.ok(sparkgap_put(pe.world(), buffer, far, &value, sizeof value, peer), "sparkgap_put");
    pe.ok(sparkgap_barrier(pe.world()), "sparkgap_barrier");
    int64_t seen = 0;
    std::memcpy(&seen, array + far, sizeof seen);
    expect(seen == 1000 + peer, "the put beyond 2^31 bytes brought %ld", seen);
    pe.ok(sparkgap_free(pe.world(), buffer), "sparkgap_free");
  });
}

void blocks_beyond_2_to_the_31() {
  if (!there_is_room(2)) return;
  run_pes(two_processes(), [](const Pe& pe) {
    // Two blocks of a little more than 2^30 bytes, so that only the second one's end lies beyond.
    const uint64_t count = kCount / 2 + 1;
    const std::unique_ptr<unsigned char[]> in(new unsigned char[count]);
    const std::unique_ptr<unsigned char[]> out(new unsigned char[2 * count]);
    fill(in.get(), count, pattern_of(pe.pe()));
    pe.ok(sparkgap_all_gather(pe.world(), in.get(), out.get(), count, SPARKGAP_UINT8), "sparkgap_all_gather");
    for (int from = 0; from < 2; ++from) check(out.get() + from * count, count, pattern_of(from));
  });
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(argc, argv,
                   {{"all_reduce_in_private_memory", all_reduce_in_private_memory},
                    {"all_reduce_and_put_in_symmetric_memory", all_reduce_and_put_in_symmetric_memory},
                    {"blocks_beyond_2_to_the_31", blocks_beyond_2_to_the_31}});
}
