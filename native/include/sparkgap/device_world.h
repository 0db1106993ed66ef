// A world as kernels of the caller's see it, which they take by value as a parameter: filled by sparkgap_world_device
// and sparkgap_buffer_device (sparkgap.h), used by sparkgap/device.cuh. Plain C.
//
// What is here belongs to one PE and stays as it is until its world is destroyed, or the buffer is freed. Addresses are
// those of the PE's GPU; the host follows none of them.
#ifndef SPARKGAP_DEVICE_WORLD_H
#define SPARKGAP_DEVICE_WORLD_H

#include <stdint.h>

// Grows with every change of what kernels and library have to know alike. A kernel that was compiled with another
// header than the library of its world gets `false` from everything that it asks of device.cuh.
#define SPARKGAP_DEVICE_LAYOUT 1

// Most PEs of a world of GPUs, which is on one host.
#define SPARKGAP_DEVICE_PES 16

// A call of a step: the numbers of both, from 1; 0: none.
typedef struct sparkgap_step_place {
  int32_t step;
  int32_t call;
} sparkgap_step_place;

struct sparkgap_wait_record;

typedef struct sparkgap_device_world {
  uint32_t layout;  // SPARKGAP_DEVICE_LAYOUT
  int32_t pe;
  int32_t pes;           // 1..SPARKGAP_DEVICE_PES
  int32_t lanes;         // blocks that a kernel may have so that all are on the GPU at once, those of PEs that share it
                         // among them, as long as no other kernel keeps them out; the same on all PEs
  uint64_t deadline_ns;  // of each wait of a kernel
  uint64_t exchange_at;  // where in `scratch` the channels of device.cuh are
  void* scratch[SPARKGAP_DEVICE_PES];   // what the kernels of PEs exchange data through, one of each PE
  const uint32_t* abort_word;           // mapped host memory: not 0 ends every wait
  struct sparkgap_wait_record* record;  // mapped host memory: what a kernel leaves that gives up
  sparkgap_step_place place;            // that the launch has, where it is a call of the library's own
} sparkgap_device_world;

// A symmetric buffer: where this PE's GPU sees the part of each.
typedef struct sparkgap_device_buffer {
  uint64_t bytes;
  void* parts[SPARKGAP_DEVICE_PES];  // NULL in a buffer of zero bytes, and behind the last PE
} sparkgap_device_buffer;

#endif  // SPARKGAP_DEVICE_WORLD_H
