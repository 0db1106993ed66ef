// Numbers that nobody can guess: keys, nonces.
#ifndef SPARKGAP_BASE_RANDOM_H
#define SPARKGAP_BASE_RANDOM_H

#include <cstddef>

namespace sparkgap {

// Fills `bytes` bytes from the kernel. Throws INTERNAL if it gives none.
void fill_randomly(void* to, size_t bytes);

}  // namespace sparkgap

#endif  // SPARKGAP_BASE_RANDOM_H
