// What a call would take: an estimate for where nothing was measured, of latencies and bandwidths of the links and of
// what each algorithm does with them. Good to tell which of two algorithms is better by how much, not for the last
// quarter of a figure. A pure function.
#ifndef SPARKGAP_SELECT_COST_H
#define SPARKGAP_SELECT_COST_H

#include <cstdint>

#include "select/select.h"

namespace sparkgap {

// Microseconds of a call of float32 back to back, on GPUs in a graph. `bytes` is what one PE gives. `algorithm` can
// carry it.
double estimate_us(int32_t collective, Algorithm algorithm, uint64_t bytes, const Circumstances& circumstances);

}  // namespace sparkgap

#endif  // SPARKGAP_SELECT_COST_H
