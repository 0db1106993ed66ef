// A PE's end of a world, from create to destroy: on one node, on several, what it says of itself. See sparkgap.h.
#ifndef SPARKGAP_WORLD_H
#define SPARKGAP_WORLD_H

#include "sparkgap/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// The library is built with hidden visibility; what is declared here is what it shows.
#pragma GCC visibility push(default)

typedef struct sparkgap_world_options {
  int32_t pe;                   // 0..pes-1
  int32_t pes;                  // 1..SPARKGAP_MAX_PES
  uint64_t epoch;               // appears in errors; all PEs of a world give the same
  int64_t peer_timeout_ms;      // how long any wait for a peer may take
  int32_t check;                // not 0: PEs compare operation, type, op, count and root before data moves
  const char* provider;         // "host", "nvshmem" or "nccl"
  const char* label;            // how other PEs' errors name this one, for example "executor 3 on node-a"; copied
  const char* host_directory;   // a tmpfs for what PEs share on the host; "" or NULL: memory in no file system; copied
  int32_t device;               // CUDA's number of this PE's GPU as this process sees them; -1 for provider host
  int32_t device_shared;        // not 0: several PEs may be on one GPU (for use under MPS; NCCL refuses it anyway)
  const char* nvshmem_library;  // path of libnvshmem_host.so.3; "" or NULL: look for it (docs/gpu.md); copied
  const char* nccl_library;     // path of libnccl.so.2; likewise
  int32_t kernel_max_blocks;    // most blocks that a collective's kernel has; 0: as many as are fastest; all PEs alike
  // How long a kernel stays on the GPU after a collective of at most 1 KiB whose arrays are host memory, to make the
  // next one without a launch; 0: none does. PEs need not give the same. Worlds of host memory, and of GPUs that do not
  // reach each other, have no such kernel.
  int32_t resident_idle_ms;
  // A world on several nodes (providers host and nccl; see "Several nodes"). All copied; 0 and NULL where PEs are on
  // one node. NCCL's sockets are on the interface of wire_address, which NCCL reads but once in a process: so that is
  // given for worlds of provider nccl on one node as well, or all of them are on the loopback interface.
  int32_t node_first_pe;       // PEs node_first_pe .. node_first_pe + node_pes - 1 are on this PE's node
  int32_t node_pes;            // 0: all PEs
  const char* wire;            // "auto" (now: tcp), "tcp" or "verbs"
  const char* wire_address;    // where this PE is reached: a numeric address, an interface, a network such as
                               // 10.1.0.0/16, or this host's name
  const char* wire_ports;      // "" or NULL: any; or "20000-20100"
  const char* fabric_library;  // path of libfabric.so.1; "" or NULL: the one beside this library; for verbs the host's
} sparkgap_world_options;

// What the calls of one operation, one route and one class of sizes have cost a PE; a call that failed counts, too.
// Times are those of the host. Up to 16 KiB one call in sixteen is timed and stands for the others, but for waits that
// outlast some ten microseconds, which are timed in every call.
typedef struct sparkgap_counter {
  int32_t operation;    // SPARKGAP_ALL_REDUCE...SPARKGAP_EXCHANGE_ROWS
  const char* route;    // as sparkgap_route gives it, static; "" for what is no collective, and for one of nothing
  uint64_t most_bytes;  // the class ends here: 64, 1 KiB, 16 KiB, 256 KiB, 4 MiB, 64 MiB, or UINT64_MAX
  uint64_t calls;
  uint64_t bytes;  // of this PE's `in`, of what was put, got or signalled, or of rows
  uint64_t nanoseconds;
  uint64_t waited_nanoseconds;  // how much of it this PE found nothing to go on with; in a GPU world none of a kernel's
} sparkgap_counter;

// Makes one PE's end of a world, not yet connected. Checks the options; PE 0 also makes the memory that the bootstrap
// needs. *world is set whenever memory for the handle itself was to be had, even if the status says failure: read the
// error from it, then destroy it.
sparkgap_status sparkgap_world_create(const sparkgap_world_options* options, sparkgap_world** world);

// PE 0 only, between create and connect: writes the SPARKGAP_WORLD_ID_BYTES that every PE gives to connect.
sparkgap_status sparkgap_world_id(sparkgap_world* world, uint8_t* id);

// Collective: returns when every PE of the world has connected and each has seen a verified put from each other. PEs
// whose options that all must have alike differ are refused here with MISMATCH, which names what differs. In a
// GPU world PEs on one GPU, GPUs that cannot reach each other and libraries of different versions are refused here, on
// all PEs alike.
sparkgap_status sparkgap_world_connect(sparkgap_world* world, const uint8_t* id);

// ---- Several nodes. A node is PEs that can map each other's memory. PEs of a world are numbered node by node. Instead
// of PE 0's id every PE has a card, and connects with those of all. Reductions then go in PE order inside a node and
// the nodes in order, or as NCCL does it in worlds of provider nccl: all PEs hold the same bits still.

// Writes SPARKGAP_NODE_KEY_BYTES that are equal in processes of one node, and no others. Any thread.
sparkgap_status sparkgap_node_key(uint8_t* key);

// Whether this process could have a wire, as sparkgap_world_options names it: SPARKGAP_OK, and `message` says what it
// would be; otherwise UNAVAILABLE or INVALID_ARGUMENT, and `message` tells why. Any thread.
sparkgap_status sparkgap_wire_probe(const char* wire, const char* address, const char* ports, const char* library,
                                    char* message, uint64_t message_bytes);

// Every PE of a world on several nodes, between create and connect: writes SPARKGAP_CARD_BYTES for all others. From
// create on this PE listens, until it is connected, and answers those alone who prove the world's key. A card holds
// that key: it is not to be seen by anybody else.
sparkgap_status sparkgap_world_card(sparkgap_world* world, uint8_t* card);

// As sparkgap_world_connect, with the cards of all PEs in their order.
sparkgap_status sparkgap_world_connect_cards(sparkgap_world* world, const uint8_t* cards);

// Number of a PE's node, from 0 in the order of PEs; -1 before connect, for NULL, or if there is no such PE.
int32_t sparkgap_world_node(const sparkgap_world* world, int32_t pe);

// Ends every wait in this world, on every PE, within milliseconds and makes all later calls fail with SPARKGAP_ABORTED
// and `reason` (copied, cut at 1,000 bytes). Any thread; the first reason stays.
sparkgap_status sparkgap_world_abort(sparkgap_world* world, const char* reason);

// SPARKGAP_OK while the world can be used, else what it failed with; no wait.
sparkgap_status sparkgap_world_health(sparkgap_world* world);

// How many collective calls this PE has made, connect, allocate and free among them: the same on all PEs of a world
// that is in step. 0 for NULL.
uint64_t sparkgap_world_calls(const sparkgap_world* world);

// A digest of those calls with their types, operations, roots, counts and algorithms, and the buffers that were freed:
// equal on PEs that made the same calls, and different where they did not. 0 for NULL.
uint64_t sparkgap_world_history(const sparkgap_world* world);

// What this PE's calls have cost since the world was made: writes the first `capacity` counters and returns how many
// there are. Any thread. 0 for NULL.
int32_t sparkgap_world_counters(const sparkgap_world* world, sparkgap_counter* counters, int32_t capacity);

// Says that this PE's function has ended: it makes no more collective calls in this run of the world. Not collective,
// and waits for nobody. A later collective call of another PE in the same run fails at once, with MISMATCH and how many
// calls this PE made; so does a wait for a signal when all other PEs have ended. What this PE has allocated stays: put,
// get, signal and fetch_add on it go on. Its next collective call belongs to the next run. A world whose PEs all call
// this once a run needs nothing else to be used again.
sparkgap_status sparkgap_world_finish(sparkgap_world* world);

// Frees the handle and every buffer of it. No thread may be inside another call on the handle. NULL is accepted.
// Provider host never waits here. Provider nvshmem waits up to peer_timeout_ms for the other PEs to come here too,
// since NVSHMEM ends on all PEs together; if one has been lost or does not come, NVSHMEM is left as it is and this
// process can have no further nvshmem world (DEVICE_FAILED).
void sparkgap_world_destroy(sparkgap_world* world);

// Never NULL; "" if nothing has failed.
const char* sparkgap_last_error(const sparkgap_world* world);

// The PE that the last failure is about (waited for, lost, aborting or disagreeing), or -1.
int32_t sparkgap_last_error_pe(const sparkgap_world* world);

// One line for logs: provider, PEs, where the memory is, how GPUs are linked.
const char* sparkgap_world_describe(sparkgap_world* world);

// 1 if symmetric buffers of this world are GPU memory, which the host cannot read or write; 0 for a host world or NULL.
int32_t sparkgap_world_memory_is_device(const sparkgap_world* world);

// A SPARKGAP_LINK, the same on all PEs; the order of the two does not matter. In a host world SHM inside a node, TCP or
// RDMA between nodes. -1 before connect, for NULL, or if there is no such PE. Does not wait.
int32_t sparkgap_world_link(const sparkgap_world* world, int32_t a, int32_t b);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif  // SPARKGAP_WORLD_H
