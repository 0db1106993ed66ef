// The cases of the grid: every collective by every algorithm on every type and operation, for counts around everything
// that matters, in and out of place, in private and symmetric memory.
#ifndef SPARKGAP_TEST_COLLECTIVE_GRID_H
#define SPARKGAP_TEST_COLLECTIVE_GRID_H

#include <vector>

#include "collective/case.h"
#include "description/algorithms.h"
#include "support/pes.h"

namespace sparkgap::test {

std::vector<Case> full_grid(int pes, ProviderKind provider = ProviderKind::kHost);

// What the selector takes alone, with fewer types and operations.
std::vector<Case> grid_of_the_selector(int pes, ProviderKind provider = ProviderKind::kHost);

// All types and operations, as the selector takes them, in private memory, which every world can do with.
std::vector<Case> grid_in_private_memory(int pes);

// Compares each result with a scalar reference, and between the PEs.
void run_grid(const Pes& pes, const std::vector<Case>& cases, Elements elements = Elements::kAny);

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_COLLECTIVE_GRID_H
