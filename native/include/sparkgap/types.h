// Numbers, names and handles that all parts of the C interface use. See sparkgap.h.
#ifndef SPARKGAP_TYPES_H
#define SPARKGAP_TYPES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The library is built with hidden visibility; what is declared here is what it shows.
#pragma GCC visibility push(default)

// Grows when a function is added, or a signature or a struct below changes; the Java side refuses a library of another
// number.
#define SPARKGAP_ABI_VERSION 11

// Size of what PE 0 hands to the others through the rendezvous.
#define SPARKGAP_WORLD_ID_BYTES 256

// Size of what PEs of several nodes hand to each other through the rendezvous, and of what tells nodes apart.
#define SPARKGAP_CARD_BYTES 512
#define SPARKGAP_NODE_KEY_BYTES 32

// Most PEs that one world can have.
#define SPARKGAP_MAX_PES 256

typedef int32_t sparkgap_status;
enum {
  SPARKGAP_OK = 0,
  SPARKGAP_INVALID_ARGUMENT = 1,  // refused before anything was touched; the world is still good
  SPARKGAP_TIMED_OUT = 2,         // a peer did not arrive within peer_timeout_ms; the world is aborted
  SPARKGAP_PEER_LOST = 3,         // a peer's process ended; the world is aborted
  SPARKGAP_ABORTED = 4,           // some PE called sparkgap_world_abort; its reason is in the error
  SPARKGAP_MISMATCH = 5,       // PEs made different calls, or were made with different options; the world is aborted;
                               // what differs is in the error
  SPARKGAP_OUT_OF_MEMORY = 6,  // the symmetric heap cannot grow: needed, available and where are in the error
  SPARKGAP_UNAVAILABLE = 7,    // the provider cannot run here (another host, no such device, wrong version)
  SPARKGAP_INTERNAL = 8,       // a system call failed in a way that none of the above names
  SPARKGAP_DEVICE_FAILED = 9   // this process can use no GPU any more (a sticky CUDA error, or NVSHMEM lost a PE and
                               // cannot be ended): replace the process
};

enum {
  SPARKGAP_FLOAT32 = 0,
  SPARKGAP_FLOAT64 = 1,
  SPARKGAP_FLOAT16 = 2,   // IEEE binary16, accumulated in float32
  SPARKGAP_BFLOAT16 = 3,  // upper half of a float32, accumulated in float32
  SPARKGAP_INT8 = 4,
  SPARKGAP_UINT8 = 5,
  SPARKGAP_INT32 = 6,
  SPARKGAP_INT64 = 7,
  SPARKGAP_TYPES = 8
};

// Reductions run in PE order, 0 first, so all PEs hold the same bits. Integers wrap. AVG is the sum divided by the
// number of PEs, truncated towards zero for integers. MIN and MAX give NaN if any element is NaN.
enum { SPARKGAP_SUM = 0, SPARKGAP_PROD = 1, SPARKGAP_MIN = 2, SPARKGAP_MAX = 3, SPARKGAP_AVG = 4, SPARKGAP_OPS = 5 };

enum {
  SPARKGAP_ALL_REDUCE = 0,
  SPARKGAP_REDUCE_SCATTER = 1,
  SPARKGAP_ALL_GATHER = 2,
  SPARKGAP_BROADCAST = 3,
  SPARKGAP_REDUCE = 4,
  SPARKGAP_ALL_TO_ALL = 5,
  SPARKGAP_ALL_TO_ALLV = 6,
  SPARKGAP_BARRIER = 7,
  SPARKGAP_COLLECTIVES = 8
};

// What calls are counted as: collectives by the numbers above, and these.
enum {
  SPARKGAP_PUT = 8,
  SPARKGAP_GET = 9,
  SPARKGAP_PUT_SIGNAL = 10,
  SPARKGAP_SIGNAL = 11,
  SPARKGAP_WAIT_SIGNAL = 12,
  SPARKGAP_FETCH_ADD = 13,
  SPARKGAP_SYNCHRONIZE = 14,
  SPARKGAP_DISPATCH = 15,
  SPARKGAP_COMBINE = 16,
  SPARKGAP_EXCHANGE_ROWS = 17,
  SPARKGAP_OPERATIONS = 18
};

// How two PEs reach each other. SHM: by memory that both have, the host's or that of one GPU; also said of two GPUs
// between which NVML knows no way, or where there is no NVML to ask.
// TCP, RDMA: by the wire between nodes.
enum {
  SPARKGAP_LINK_SHM = 0,
  SPARKGAP_LINK_NVLINK = 1,
  SPARKGAP_LINK_PCIE = 2,
  SPARKGAP_LINK_TCP = 3,
  SPARKGAP_LINK_RDMA = 4
};

enum { SPARKGAP_SIGNAL_SET = 0, SPARKGAP_SIGNAL_ADD = 1 };
enum { SPARKGAP_EQ = 0, SPARKGAP_NE = 1, SPARKGAP_GT = 2, SPARKGAP_GE = 3, SPARKGAP_LT = 4, SPARKGAP_LE = 5 };

typedef struct sparkgap_world sparkgap_world;
typedef struct sparkgap_buffer sparkgap_buffer;
typedef struct sparkgap_event sparkgap_event;
typedef struct sparkgap_step sparkgap_step;

int32_t sparkgap_abi_version(void);

// Release and build, for logs: "0.1.0 (g++ 12.2.0, x86-64-v4 kernels)".
const char* sparkgap_version(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif  // SPARKGAP_TYPES_H
