// Every kernel of every instruction set level that this CPU has, against the scalar reference.
#include "reduce/kernels.h"

#include <algorithm>
#include <cstring>

#include "description/types.h"
#include "support/check.h"
#include "support/reference.h"

namespace sparkgap::test {
namespace {

// Arrays start `shift` elements past a 64-byte boundary, and carry a guard behind their end.
class Array {
 public:
  Array(size_t bytes, size_t shift) : bytes_(bytes), storage_(bytes + 64 + shift + kGuard) {
    const auto address = reinterpret_cast<uintptr_t>(storage_.data());
    start_ = storage_.data() + (64 - address % 64) % 64 + shift;
    std::memset(start_ + bytes_, kMark, kGuard);
  }

  char* data() { return start_; }

  bool guard_is_intact() const {
    return std::all_of(start_ + bytes_, start_ + bytes_ + kGuard, [](char c) { return c == kMark; });
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr char kMark = 0x5a;

  size_t bytes_;
  std::vector<char> storage_;
  char* start_;
};

struct Case {
  const Kernels* kernels;
  int32_t type;
  int32_t op;
  int n;
  size_t count;
};

// aliased: the input that is the output as well, or -1.
void check_kernel(const Case& c, bool streaming, size_t shift, int aliased, const std::vector<std::vector<char>>& data,
                  const std::vector<char>& expected) {
  const size_t bytes = c.count * bytes_of(c.type);
  std::vector<Array> arrays;
  std::vector<const void*> ins;
  arrays.reserve(c.n + 1);
  for (int k = 0; k < c.n; ++k) {
    arrays.emplace_back(bytes, (shift * (k + 1)) % 64 * bytes_of(c.type) % 64);
    std::copy_n(data[k].data(), bytes, arrays[k].data());
    ins.push_back(arrays[k].data());
  }
  arrays.emplace_back(bytes, shift * bytes_of(c.type) % 64);
  char* out = arrays[aliased < 0 ? c.n : aliased].data();
  const auto& table = streaming ? c.kernels->reduce_streaming : c.kernels->reduce;
  table[c.type][c.op](out, ins.data(), c.n, c.count);

  const size_t wrong = first_difference(out, expected.data(), c.count, c.type);
  std::string inputs;
  for (int k = 0; k < c.n && wrong < c.count; ++k) inputs += " " + show_element(data[k].data(), wrong, c.type);
  expect(wrong == c.count,
         "%s %s %s of %d inputs, count %zu, %s, shift %zu, aliased %d: element %zu is %s, not %s; of%s", c.kernels->isa,
         type_name(c.type), op_name(c.op), c.n, c.count, streaming ? "streaming" : "cached", shift, aliased, wrong,
         wrong < c.count ? show_element(out, wrong, c.type).c_str() : "",
         wrong < c.count ? show_element(expected.data(), wrong, c.type).c_str() : "", inputs.c_str());
  for (int k = 0; k < c.n; ++k) {
    expect(k == aliased || same_bytes(arrays[k].data(), data[k].data(), bytes), "%s %s %s changed its input %d",
           c.kernels->isa, type_name(c.type), op_name(c.op), k);
  }
  for (const Array& array : arrays) {
    expect(array.guard_is_intact(), "%s %s %s, count %zu, wrote past the end", c.kernels->isa, type_name(c.type),
           op_name(c.op), c.count);
  }
}

void check_level(int level) {
  const Kernels* kernels = kernels_of_level(level);
  if (kernels == nullptr) {
    std::printf("     this CPU has no level %d\n", level);
    return;
  }
  constexpr size_t kCounts[] = {0, 1, 2, 3, 7, 15, 31, 63, 64, 65, 127, 257, 1000};
  for (int32_t type = 0; type < SPARKGAP_TYPES; ++type) {
    for (int n = 1; n <= 5; ++n) {
      for (const size_t count : kCounts) {
        std::vector<std::vector<char>> data;
        std::vector<const void*> ins;
        for (int k = 0; k < n; ++k) data.push_back(random_elements(type, count, count * 8 + k));
        for (const auto& array : data) ins.push_back(array.data());
        for (int32_t op = 0; op < SPARKGAP_OPS; ++op) {
          std::vector<char> expected(count * bytes_of(type));
          reference_reduce(expected.data(), ins, count, type, op);
          for (const size_t shift : {0, 1, 5}) {
            for (int aliased = -1; aliased < n; ++aliased) {
              check_kernel({kernels, type, op, n, count}, false, shift, aliased, data, expected);
              check_kernel({kernels, type, op, n, count}, true, shift, aliased, data, expected);
            }
          }
        }
      }
    }
  }
}

// Every bit pattern of the 16-bit types against 64 others, so that every rounding and every special value is met.
void check_all_16_bit_patterns(int level) {
  const Kernels* kernels = kernels_of_level(level);
  if (kernels == nullptr) return;
  constexpr size_t kPatterns = 65536;
  std::vector<uint16_t> all(kPatterns);
  for (size_t i = 0; i < kPatterns; ++i) all[i] = static_cast<uint16_t>(i);
  for (const int32_t type : {SPARKGAP_FLOAT16, SPARKGAP_BFLOAT16}) {
    for (uint64_t seed = 0; seed < 16; ++seed) {
      const std::vector<char> other = random_elements(type, kPatterns, seed);
      for (const int32_t op : {SPARKGAP_SUM, SPARKGAP_PROD, SPARKGAP_AVG}) {
        std::vector<uint16_t> expected(kPatterns);
        std::vector<uint16_t> out(kPatterns);
        reference_reduce(expected.data(), {all.data(), other.data()}, kPatterns, type, op);
        const void* ins[] = {all.data(), other.data()};
        kernels->reduce[type][op](out.data(), ins, 2, kPatterns);
        const size_t wrong = first_difference(out.data(), expected.data(), kPatterns, type);
        expect(wrong == kPatterns, "%s %s %s of %s and %s is %s, not %s", kernels->isa, type_name(type), op_name(op),
               show_element(all.data(), wrong % kPatterns, type).c_str(),
               show_element(other.data(), wrong % kPatterns, type).c_str(),
               show_element(out.data(), wrong % kPatterns, type).c_str(),
               show_element(expected.data(), wrong % kPatterns, type).c_str());
      }
    }
  }
}

void streaming_copies_copy() {
  for (int level = 0; level < kKernelLevels; ++level) {
    const Kernels* kernels = kernels_of_level(level);
    if (kernels == nullptr) continue;
    for (const size_t bytes : {0, 1, 15, 63, 64, 65, 255, 257, 4096, 10007}) {
      for (const size_t shift : {0, 1, 17, 63}) {
        const std::vector<char> data = random_elements(SPARKGAP_UINT8, bytes, bytes);
        Array from(bytes, 63 - shift);
        Array to(bytes, shift);
        std::copy_n(data.data(), bytes, from.data());
        kernels->copy_streaming(to.data(), from.data(), bytes);
        expect(same_bytes(to.data(), data.data(), bytes) && to.guard_is_intact(),
               "%s copy of %zu bytes to shift %zu is wrong", kernels->isa, bytes, shift);
      }
    }
  }
}

void unknown_types_and_operations_have_no_function() {
  expect(reduce_function(-1, SPARKGAP_SUM) == nullptr, "type -1 has a function");
  expect(reduce_function(SPARKGAP_TYPES, SPARKGAP_SUM) == nullptr, "type %d has a function", SPARKGAP_TYPES);
  expect(reduce_function(SPARKGAP_FLOAT32, -1) == nullptr, "op -1 has a function");
  expect(reduce_function_streaming(SPARKGAP_FLOAT32, SPARKGAP_OPS) == nullptr, "op %d has a function", SPARKGAP_OPS);
  expect(element_bytes(-1) == 0 && element_bytes(SPARKGAP_TYPES) == 0, "an unknown type has a size");
  for (int32_t type = 0; type < SPARKGAP_TYPES; ++type) {
    expect(element_bytes(type) == bytes_of(type), "%s has %lu bytes", type_name(type), element_bytes(type));
  }
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"kernels_of_the_baseline_match_the_reference", [] { check_level(0); }},
       {"kernels_of_v3_match_the_reference", [] { check_level(1); }},
       {"kernels_of_v4_match_the_reference", [] { check_level(2); }},
       {"all_16_bit_patterns_round_as_the_reference_at_the_baseline", [] { check_all_16_bit_patterns(0); }},
       {"all_16_bit_patterns_round_as_the_reference_at_v3", [] { check_all_16_bit_patterns(1); }},
       {"all_16_bit_patterns_round_as_the_reference_at_v4", [] { check_all_16_bit_patterns(2); }},
       {"streaming_copies_copy", streaming_copies_copy},
       {"unknown_types_and_operations_have_no_function", unknown_types_and_operations_have_no_function}});
}
