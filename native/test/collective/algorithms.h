// What the grid has to know of the library's inside: which algorithms there are, and at which sizes they change.
#ifndef SPARKGAP_TEST_COLLECTIVE_ALGORITHMS_H
#define SPARKGAP_TEST_COLLECTIVE_ALGORITHMS_H

#include <cstdint>
#include <string>
#include <vector>

#include "description/algorithms.h"

namespace sparkgap::test {

// "auto" and the names that sparkgap_world_set_algorithm takes for the collective; the texts are static.
std::vector<const char*> algorithms_of(int32_t collective, ProviderKind provider = ProviderKind::kHost);

// Every size in bytes of what a PE gives at which the selector goes over to another algorithm, or an algorithm to
// another packet, slot or chunk.
std::vector<uint64_t> threshold_bytes(int32_t collective, int pes, ProviderKind provider = ProviderKind::kHost);

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_COLLECTIVE_ALGORITHMS_H
