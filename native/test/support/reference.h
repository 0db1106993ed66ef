// Plain scalar reductions, written for clarity, that the vectorised kernels and the collectives are compared with.
#ifndef SPARKGAP_TEST_SUPPORT_REFERENCE_H
#define SPARKGAP_TEST_SUPPORT_REFERENCE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sparkgap::test {

size_t bytes_of(int32_t type);

// `count` elements: mostly moderate numbers; for floating types also zeros of both signs, subnormals, infinities, NaNs
// and numbers near overflow; for integers all bit patterns.
// 1, 2, 3, 1, ... and 2 more for each PE after the first: averages are whole, too.
std::vector<char> small_whole_elements(int32_t type, size_t count, int pe);

std::vector<char> random_elements(int32_t type, size_t count, uint64_t seed);

// out[i] = op(ins[0][i], ins[1][i], ...), as sparkgap.h defines it.
void reference_reduce(void* out, const std::vector<const void*>& ins, size_t count, int32_t type, int32_t op);

// Index of the first element that differs, or `count`. NaNs equal each other: which payload survives is not promised.
size_t first_difference(const void* a, const void* b, size_t count, int32_t type);

// One element in decimal and as bits, for messages.
std::string show_element(const void* array, size_t index, int32_t type);

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_SUPPORT_REFERENCE_H
