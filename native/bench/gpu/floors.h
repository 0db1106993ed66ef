// What the machine can do: the floors that the calls are measured against.
#ifndef SPARKGAP_BENCH_GPU_FLOORS_H
#define SPARKGAP_BENCH_GPU_FLOORS_H

#include "gpu/gpu_pes.h"

namespace sparkgap::bench {

struct Floors {
  double empty_stream_us;  // an empty kernel, back to back
  double empty_graph_us;   // in a graph
  double empty_sync_us;    // launched and waited for
  double link_gb_per_s;    // 64 MiB from each PE to its neighbour, all at once
};

// Collective. `memory`: 128 MiB at least.
Floors measure_floors(test::GpuPe& pe, const test::PeerMemory& memory);

// One way of `bytes` put into the neighbour's memory with a signal behind them, to a kernel that waits for the signal
// and answers likewise: half of a round trip, us. Two PEs.
double put_with_signal_us(test::GpuPe& pe, const test::PeerMemory& memory, uint64_t bytes);

// The same where the signal travels with the data, in packets of 16 bytes that the waiting kernel takes apart.
double message_in_packets_us(test::GpuPe& pe, const test::PeerMemory& memory, uint64_t bytes);

}  // namespace sparkgap::bench
#endif  // SPARKGAP_BENCH_GPU_FLOORS_H
