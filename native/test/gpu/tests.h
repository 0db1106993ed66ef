// The tests of the kernels, each with a number of PEs.
#ifndef SPARKGAP_TEST_GPU_TESTS_H
#define SPARKGAP_TEST_GPU_TESTS_H

namespace sparkgap::test {

// Every type, operation, place and alignment of one collective (SPARKGAP_ALL_REDUCE...), at counts around every
// threshold.
void run_grid(int pes, int collective);

// Every kernel at a few sizes, for tools that slow it down by hundreds.
void run_small(int pes);

// Collectives of all kinds and sizes back to back, with nothing between them.
void run_mixture(int pes);
// 100,000 small all-reduces with random delays on each PE, checked on the GPU.
void run_back_to_back(int pes);
// A graph with one call of every kernel, replayed with new inputs.
void run_graph(int pes);
// Data that lines can carry only as zeros.
void run_hidden_words(int pes);

// A PE that never comes: the others' waits end, and their record names it.
void run_deadline(int pes);
void run_abort(int pes);
// A PE that leaves a ring in the middle.
void run_ring_breaks_off(int pes);
// allToAllv with counts that do not fit each other.
void run_counts_disagree(int pes);

// PEs that make different calls at the same time.
void run_calls_differ(int pes);

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_GPU_TESTS_H
