// Sparkgap's native interface: the whole of what crosses from the JVM into C++.
//
// A world is the set of PEs (processing elements) that were bootstrapped together; a handle is one PE's end of it.
// There is no global state: a process may hold several PEs of one world (the threads of one JVM) and several worlds.
//
// Every function that can fail returns a sparkgap_status. For anything but SPARKGAP_OK, sparkgap_last_error(world) is a
// sentence for a person that names the call, the PE and what to look at; it stays valid until the next call on the
// handle.
//
// Threads: a handle is confined to one thread at a time. sparkgap_world_abort is the exception: any thread may call it
// at any moment between create and destroy.
//
// Sizes: `count` is a number of elements of `type`, `bytes` and `offset` are bytes. Zero is a valid count everywhere.
//
// Nothing here allocates on a path that a collective or a one-sided call takes.
#ifndef SPARKGAP_SPARKGAP_H
#define SPARKGAP_SPARKGAP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The library is built with hidden visibility; what is declared here is what it shows.
#pragma GCC visibility push(default)

// Grows when a signature or a struct below changes; the Java side refuses a library of another number.
#define SPARKGAP_ABI_VERSION 1

// Size of what PE 0 hands to the others through the rendezvous.
#define SPARKGAP_WORLD_ID_BYTES 256

// Most PEs that one world can have.
#define SPARKGAP_MAX_PES 256

typedef int32_t sparkgap_status;
enum {
  SPARKGAP_OK = 0,
  SPARKGAP_INVALID_ARGUMENT = 1,  // refused before anything was touched; the world is still good
  SPARKGAP_TIMED_OUT = 2,         // a peer did not arrive within peer_timeout_ms; the world is aborted
  SPARKGAP_PEER_LOST = 3,         // a peer's process ended; the world is aborted
  SPARKGAP_ABORTED = 4,           // some PE called sparkgap_world_abort; its reason is in the error
  SPARKGAP_MISMATCH = 5,          // PEs made different calls; the world is aborted; both calls are in the error
  SPARKGAP_OUT_OF_MEMORY = 6,     // the symmetric heap cannot grow: needed, available and where are in the error
  SPARKGAP_UNAVAILABLE = 7,       // the provider cannot run here (another host, no such device, wrong version)
  SPARKGAP_INTERNAL = 8           // a system call failed in a way that none of the above names
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

enum { SPARKGAP_SIGNAL_SET = 0, SPARKGAP_SIGNAL_ADD = 1 };
enum { SPARKGAP_EQ = 0, SPARKGAP_NE = 1, SPARKGAP_GT = 2, SPARKGAP_GE = 3, SPARKGAP_LT = 4, SPARKGAP_LE = 5 };

typedef struct sparkgap_world sparkgap_world;
typedef struct sparkgap_buffer sparkgap_buffer;

typedef struct sparkgap_world_options {
  int32_t pe;                  // 0..pes-1
  int32_t pes;                 // 1..SPARKGAP_MAX_PES
  uint64_t epoch;              // appears in errors; all PEs of a world give the same
  int64_t peer_timeout_ms;     // how long any wait for a peer may take
  int32_t check;               // not 0: PEs compare operation, type, op, count and root before data moves
  const char* provider;        // "host"
  const char* label;           // how other PEs' errors name this one, for example "executor 3 on node-a"; copied
  const char* host_directory;  // provider host: a tmpfs for the symmetric heap, normally "/dev/shm"; copied
} sparkgap_world_options;

int32_t sparkgap_abi_version(void);

// Release and build, for logs: "0.1.0 (g++ 12.2.0, x86-64-v4 kernels)".
const char* sparkgap_version(void);

// ---- World

// Makes one PE's end of a world, not yet connected. Checks the options; PE 0 also makes the memory that the bootstrap
// needs. *world is set whenever memory for the handle itself was to be had, even if the status says failure: read the
// error from it, then destroy it.
sparkgap_status sparkgap_world_create(const sparkgap_world_options* options, sparkgap_world** world);

// PE 0 only, between create and connect: writes the SPARKGAP_WORLD_ID_BYTES that every PE gives to connect.
sparkgap_status sparkgap_world_id(sparkgap_world* world, uint8_t* id);

// Collective: returns when every PE of the world has connected and each has seen a verified put from each other.
sparkgap_status sparkgap_world_connect(sparkgap_world* world, const uint8_t* id);

// Ends every wait in this world, on every PE, within milliseconds and makes all later calls fail with SPARKGAP_ABORTED
// and `reason` (copied, cut at 1,000 bytes). Any thread; the first reason stays.
sparkgap_status sparkgap_world_abort(sparkgap_world* world, const char* reason);

// SPARKGAP_OK while the world can be used, else what it failed with; no wait.
sparkgap_status sparkgap_world_health(sparkgap_world* world);

// How many collective calls this PE has made, connect, allocate and free among them: the same on all PEs of a world
// that is in step. 0 for NULL.
uint64_t sparkgap_world_calls(const sparkgap_world* world);

// A digest of those calls with their types, operations, roots and counts: equal on PEs that made the same calls, and
// different where they did not. 0 for NULL.
uint64_t sparkgap_world_history(const sparkgap_world* world);

// Frees the handle and every buffer of it; never waits. No thread may be inside another call on the handle. NULL is
// accepted.
void sparkgap_world_destroy(sparkgap_world* world);

// Never NULL; "" if nothing has failed.
const char* sparkgap_last_error(const sparkgap_world* world);

// The PE that the last failure is about (waited for, lost, aborting or disagreeing), or -1.
int32_t sparkgap_last_error_pe(const sparkgap_world* world);

// One line for logs: provider, PEs, where the memory is.
const char* sparkgap_world_describe(sparkgap_world* world);

// ---- Symmetric heap

// Collective: `bytes` on every PE, zeroed, aligned to 4096. All PEs must ask for the same number.
sparkgap_status sparkgap_allocate(sparkgap_world* world, uint64_t bytes, sparkgap_buffer** buffer);

// Every PE frees the same buffers in the same order, but none waits: the memory goes when the last PE has freed its
// end. The buffer must not be used afterwards.
sparkgap_status sparkgap_free(sparkgap_world* world, sparkgap_buffer* buffer);

// This PE's part; NULL only for a buffer of zero bytes.
void* sparkgap_buffer_address(const sparkgap_buffer* buffer);
uint64_t sparkgap_buffer_bytes(const sparkgap_buffer* buffer);

// Where this process sees `pe`'s part; NULL if that PE's memory cannot be addressed directly.
void* sparkgap_buffer_peer_address(const sparkgap_buffer* buffer, int32_t pe);

// ---- One-sided. Offsets are into `pe`'s part of the buffer; ranges are checked. Signals are 64-bit, aligned to 8.

// Returns when `src` may be reused. The data is visible to `pe` after the next barrier or a signal sent after it.
sparkgap_status sparkgap_put(sparkgap_world* world, sparkgap_buffer* dst, uint64_t dst_offset, const void* src,
                             uint64_t bytes, int32_t pe);
sparkgap_status sparkgap_get(sparkgap_world* world, void* dst, sparkgap_buffer* src, uint64_t src_offset,
                             uint64_t bytes, int32_t pe);
// As put; then the signal, which `pe` sees only after the data.
sparkgap_status sparkgap_put_signal(sparkgap_world* world, sparkgap_buffer* dst, uint64_t dst_offset, const void* src,
                                    uint64_t bytes, sparkgap_buffer* signal, uint64_t signal_offset, int64_t value,
                                    int32_t signal_op, int32_t pe);
sparkgap_status sparkgap_signal(sparkgap_world* world, sparkgap_buffer* signal, uint64_t signal_offset, int64_t value,
                                int32_t signal_op, int32_t pe);
// Waits until this PE's signal compares true with `value`; the value that did is written to *observed,
// unless that is NULL.
sparkgap_status sparkgap_wait_signal(sparkgap_world* world, sparkgap_buffer* signal, uint64_t signal_offset,
                                     int32_t comparison, int64_t value, int64_t* observed);
sparkgap_status sparkgap_fetch_add(sparkgap_world* world, sparkgap_buffer* target, uint64_t offset, int64_t delta,
                                   int32_t pe, int64_t* before);

// ---- Collectives. Every PE makes the same call with the same count, type, op and root. `in` and `out` may be any
// memory of this process. Where `in` lies in a symmetric buffer on every PE, large messages are read where they are
// (routes named .../direct), which saves a copy. `in` and `out` are either in place (as said below) or must not
// overlap.

// in, out: count. In place: in == out.
sparkgap_status sparkgap_all_reduce(sparkgap_world* world, const void* in, void* out, uint64_t count, int32_t type,
                                    int32_t op);
// in: pes * count_per_pe, out: count_per_pe. In place: out == in + pe * count_per_pe elements.
sparkgap_status sparkgap_reduce_scatter(sparkgap_world* world, const void* in, void* out, uint64_t count_per_pe,
                                        int32_t type, int32_t op);
// in: count_per_pe, out: pes * count_per_pe. In place: in == out + pe * count_per_pe elements.
sparkgap_status sparkgap_all_gather(sparkgap_world* world, const void* in, void* out, uint64_t count_per_pe,
                                    int32_t type);
// in: count on root (not read elsewhere, may be NULL there), out: count. In place: in == out.
sparkgap_status sparkgap_broadcast(sparkgap_world* world, const void* in, void* out, uint64_t count, int32_t type,
                                   int32_t root);
// in: count, out: count on root (not written elsewhere, may be NULL there). In place: in == out.
sparkgap_status sparkgap_reduce(sparkgap_world* world, const void* in, void* out, uint64_t count, int32_t type,
                                int32_t op, int32_t root);
// in, out: pes * count_per_pe; block i of `in` goes to PE i. In place: in == out.
sparkgap_status sparkgap_all_to_all(sparkgap_world* world, const void* in, void* out, uint64_t count_per_pe,
                                    int32_t type);
// Each array has pes entries, in elements. What a PE sends to i must be what i receives from it, which is checked.
// In place: in == out with send_counts and send_offsets equal to receive_counts and receive_offsets.
sparkgap_status sparkgap_all_to_allv(sparkgap_world* world, const void* in, const uint64_t* send_counts,
                                     const uint64_t* send_offsets, void* out, const uint64_t* receive_counts,
                                     const uint64_t* receive_offsets, int32_t type);
sparkgap_status sparkgap_barrier(sparkgap_world* world);

// Waits until everything that this PE has enqueued is done. Host-memory calls are done when they return.
sparkgap_status sparkgap_synchronize(sparkgap_world* world);

// ---- Selection

// Provider and algorithm that a collective of this size takes now, for example "host/one-shot"; "" if there can be no
// such call, and why is then the last error. Static text, never NULL.
const char* sparkgap_route(sparkgap_world* world, int32_t collective, uint64_t count, int32_t type);

// Holds a collective to one algorithm (by the name in sparkgap_route after the '/'), or gives it back to the selector
// with NULL or "auto". A message that this algorithm cannot carry (packets: a large one) still goes the selector's way.
// All PEs must do the same. For measurement, tests and people who know better.
sparkgap_status sparkgap_world_set_algorithm(sparkgap_world* world, int32_t collective, const char* algorithm);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif  // SPARKGAP_SPARKGAP_H
