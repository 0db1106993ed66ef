// What the platform asks of the kernels that exchange rows. Plain C++, as collective/kernels.h.
#ifndef SPARKGAP_COLLECTIVE_ROWS_KERNELS_H
#define SPARKGAP_COLLECTIVE_ROWS_KERNELS_H

#include <cstdint>

#include "description/rows.h"
#include "protocol/kernel_world.h"

struct CUstream_st;

namespace sparkgap::kernels {

// A call, in device memory, and what the kernels want to know besides.
struct RowsLaunch {
  RowsCall call;
  uint32_t signature;       // what all PEs have alike in it
  uint8_t* parts[kMaxPes];  // where this process sees the PEs' parts of the buffer that rows go through
};

// Of a kernel file each. What is prepared, before the first launch and once a world, is the kernels' loading. Each
// returns a cudaError_t.
int32_t prepare_dispatch();
int32_t prepare_combine();
int32_t launch_dispatch(const KernelWorld& world, CUstream_st* stream, const RowsLaunch& launch);
int32_t launch_combine(const KernelWorld& world, CUstream_st* stream, const RowsLaunch& launch);

inline int32_t prepare_rows() {
  const int32_t error = prepare_dispatch();
  return error != 0 ? error : prepare_combine();
}

// Enqueues the call.
inline int32_t launch_rows(const KernelWorld& world, CUstream_st* stream, const RowsLaunch& launch) {
  const bool combines = launch.call.operation == SPARKGAP_COMBINE;
  return combines ? launch_combine(world, stream, launch) : launch_dispatch(world, stream, launch);
}

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_COLLECTIVE_ROWS_KERNELS_H
