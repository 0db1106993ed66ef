// What a kernel of yours includes to send and to reduce while it computes: the PEs of a world of GPUs, from inside a
// kernel. docs/device.md is the tour. Needs nvcc and C++17, and nothing to link.
//
//   #include "sparkgap/device.cuh"
//   using namespace sparkgap::device;
//
//   __global__ void layers(const __grid_constant__ sparkgap_device_world world, float* sums, uint32_t count, ...) {
//     Grid grid(world);
//     for (...) {
//       ...                                                      // each block computes its share of this PE's sums
//       if (!grid.all_reduce_share(sums, sums, count)) return;   // over all PEs
//       if (!grid.sync()) return;                                // now every block sees all of them
//     }
//   }
//
// The host fills `world` by sparkgap_world_device (Communicator.deviceWorld() in Java), and passes it by value.
//
//   Block      one block of each PE works together: all_reduce, all_gather, barrier, put, put_signal, signal, wait
//   Grid       all blocks of a kernel do: all_reduce, all_gather, barrier, and sync among the blocks of one PE
//   peer_address, signal, signal_add, wait     one thread by itself (device/one_sided.cuh)
//
// Whoever calls what belongs to a block calls it with all threads of the block, which has at least 32; what belongs to
// a grid, with all of its blocks. On all PEs the same calls are made in the same order in the same channel, with the
// same count, type and operation, by kernels of as many blocks.
//
// Every wait ends: with the world's deadline (spark.sparkgap.peer.timeout), with its abort, or when PEs have made
// different calls. What waited returns false then, in all threads of the block, and so does everything after it: the
// kernel has nothing to do but to return. The next call of the host on the world, or synchronize(), says why.
//
// All blocks that wait for each other have to be on the GPU at once: at most world.lanes, which leaves each a
// multiprocessor, or what the occupancy of the kernel allows. Two kernels that are under way at once use different
// channels.
#ifndef SPARKGAP_DEVICE_CUH
#define SPARKGAP_DEVICE_CUH

#include "sparkgap/device/block.cuh"
#include "sparkgap/device/grid.cuh"
#include "sparkgap/device/one_sided.cuh"
#include "sparkgap/sparkgap.h"

#endif  // SPARKGAP_DEVICE_CUH
