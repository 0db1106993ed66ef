// Arrays of more than 2^31 bytes, where a size kept in 32 bits would show.
#include <cstring>
#include <memory>

#include "support/check.h"
#include "support/pes.h"

namespace sparkgap::test {
namespace {

constexpr uint64_t kCount = (uint64_t{1} << 31) + 5;

// Element i of a PE, with a period that no power of two divides.
unsigned char element(int pe, uint64_t i) { return static_cast<unsigned char>(i % 251 * (pe + 1) + i / 251 % 13); }

void fill(unsigned char* array, int pe, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) array[i] = element(pe, i);
}

// The sum of two PEs' elements everywhere.
void check_sum(const unsigned char* out) {
  for (uint64_t i = 0; i < kCount; ++i) {
    const auto expected = static_cast<unsigned char>(element(0, i) + element(1, i));
    if (out[i] != expected) expect(false, "element %lu is %d, not %d", i, out[i], expected);
  }
}

Pes two_processes() {
  Pes pes{2};
  pes.deadline_seconds = 240;
  pes.peer_timeout_ms = 120000;
  return pes;
}

void all_reduce_in_private_memory() {
  run_pes(two_processes(), [](const Pe& pe) {
    const std::unique_ptr<unsigned char[]> array(new unsigned char[kCount]);
    fill(array.get(), pe.pe(), kCount);
    pe.ok(sparkgap_all_reduce(pe.world(), array.get(), array.get(), kCount, SPARKGAP_UINT8, SPARKGAP_SUM),
          "sparkgap_all_reduce");
    check_sum(array.get());
  });
}

void all_reduce_and_put_in_symmetric_memory() {
  run_pes(two_processes(), [](const Pe& pe) {
    sparkgap_buffer* buffer = pe.allocate(kCount);
    auto* array = static_cast<unsigned char*>(sparkgap_buffer_address(buffer));
    fill(array, pe.pe(), kCount);
    pe.ok(sparkgap_all_reduce(pe.world(), array, array, kCount, SPARKGAP_UINT8, SPARKGAP_SUM), "sparkgap_all_reduce");
    check_sum(array);
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
  run_pes(two_processes(), [](const Pe& pe) {
    // Two blocks of a little more than 2^30 bytes, so that only the second one's end lies beyond.
    const uint64_t count = kCount / 2 + 1;
    const std::unique_ptr<unsigned char[]> in(new unsigned char[count]);
    const std::unique_ptr<unsigned char[]> out(new unsigned char[2 * count]);
    fill(in.get(), pe.pe(), count);
    pe.ok(sparkgap_all_gather(pe.world(), in.get(), out.get(), count, SPARKGAP_UINT8), "sparkgap_all_gather");
    for (int from = 0; from < 2; ++from) {
      for (uint64_t i = 0; i < count; ++i) {
        const unsigned char got = out[from * count + i];
        if (got != element(from, i)) expect(false, "element %lu of PE %d is %d", i, from, got);
      }
    }
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
