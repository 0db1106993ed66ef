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
// Memory: `in` and `out` belong to the call until it returns, whatever its status. After a failed call peers may still
// be reading `in`, through the kernel or in the symmetric heap, and get whatever lies there: it may be freed or used
// again at once, and nobody comes to harm by it. What lies in `out` after a failed call is not specified.
//
// Nothing here allocates on a path that a collective or a one-sided call takes; the one exception is said at
// "Host memory" below.
//
// Host and GPU worlds. Provider "host" keeps the symmetric heap in shared memory of one host: a call is done when it
// returns. Providers "nvshmem" and "nccl" keep it in GPU memory, one GPU a PE, one PE a process; PEs of one node reach
// each other's, and between nodes provider nccl has collectives alone (one-sided calls are UNAVAILABLE there). A call
// is enqueued on the world's stream, in order, and returns; sparkgap_synchronize waits. An error that shows later
// than the call is what the next call or synchronize returns.
//
// Host memory in a GPU world: `in`, `out`, `src` and `dst` may be device memory (a symmetric buffer, or anything that
// CUDA knows as memory of the world's GPU) or host memory, on each PE as it likes. Host memory goes through staging of
// the world, which grows to the largest call and stays, and the call returns when it is done.
#ifndef SPARKGAP_SPARKGAP_H
#define SPARKGAP_SPARKGAP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The library is built with hidden visibility; what is declared here is what it shows.
#pragma GCC visibility push(default)

// Grows when a function is added, or a signature or a struct below changes; the Java side refuses a library of another
// number.
#define SPARKGAP_ABI_VERSION 8

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
  SPARKGAP_OPERATIONS = 15
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

// A GPU, as sparkgap_device_open found it. Text ends with 0.
typedef struct sparkgap_device_info {
  int32_t ordinal;
  int32_t compute_major;
  int32_t compute_minor;
  int32_t multiprocessors;
  int64_t memory_bytes;
  char name[128];   // "NVIDIA H200"
  char uuid[48];    // "GPU-2d1b..." as nvidia-smi prints it
  char pci[32];     // "0000:19:00.0"
  char driver[32];  // "580.95.05", or "CUDA 13.0" where NVML does not say
} sparkgap_device_info;

// What the calls of one operation, one route and one class of sizes have cost a PE; a call that failed counts, too.
// Times are those of the host. Up to 16 KiB one call in sixteen is timed and stands for the others, but for waits that
// outlast some ten microseconds, which are timed in every call.
typedef struct sparkgap_counter {
  int32_t operation;    // SPARKGAP_ALL_REDUCE...SPARKGAP_SYNCHRONIZE
  const char* route;    // as sparkgap_route gives it, static; "" for what is no collective, and for one of nothing
  uint64_t most_bytes;  // the class ends here: 64, 1 KiB, 16 KiB, 256 KiB, 4 MiB, 64 MiB, or UINT64_MAX
  uint64_t calls;
  uint64_t bytes;  // of this PE's `in`, or of what was put, got or signalled
  uint64_t nanoseconds;
  uint64_t waited_nanoseconds;  // how much of it this PE found nothing to go on with; in a GPU world none of a kernel's
} sparkgap_counter;

int32_t sparkgap_abi_version(void);

// Release and build, for logs: "0.1.0 (g++ 12.2.0, x86-64-v4 kernels)".
const char* sparkgap_version(void);

// ---- GPUs. No world is needed, and any thread may call.

// Loads libsparkgap_cuda.so, makes the GPU's CUDA context (the first time this takes most of a second) and fills *info.
// Otherwise UNAVAILABLE, or DEVICE_FAILED, and what was looked for, where, what was found and what to do is written to
// `message`, cut at message_bytes.
sparkgap_status sparkgap_device_open(int32_t ordinal, sparkgap_device_info* info, char* message,
                                     uint64_t message_bytes);

// Whether `provider` could serve in this process, without starting it: SPARKGAP_OK, and `message` names the library and
// version that was found; otherwise UNAVAILABLE, and `message` tells why. `library`: as in sparkgap_world_options.
sparkgap_status sparkgap_provider_probe(const char* provider, const char* library, char* message,
                                        uint64_t message_bytes);

// ---- World

// Makes one PE's end of a world, not yet connected. Checks the options; PE 0 also makes the memory that the bootstrap
// needs. *world is set whenever memory for the handle itself was to be had, even if the status says failure: read the
// error from it, then destroy it.
sparkgap_status sparkgap_world_create(const sparkgap_world_options* options, sparkgap_world** world);

// PE 0 only, between create and connect: writes the SPARKGAP_WORLD_ID_BYTES that every PE gives to connect.
sparkgap_status sparkgap_world_id(sparkgap_world* world, uint8_t* id);

// Collective: returns when every PE of the world has connected and each has seen a verified put from each other. PEs
// whose check, peer_timeout_ms or provider differ are refused here with MISMATCH, which names what differs. In a
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

// SPARKGAP_LINK_SHM, NVLINK or PCIE, the same on all PEs; the order of the two does not matter. Always SHM in a host
// world. -1 before connect, for NULL, or if there is no such PE. Does not wait.
int32_t sparkgap_world_link(const sparkgap_world* world, int32_t a, int32_t b);

// ---- Streams and events, of GPU worlds (INVALID_ARGUMENT in a host world)

// The cudaStream_t that calls are enqueued on; NULL in a host world or before connect.
void* sparkgap_world_stream(sparkgap_world* world);

// Enqueues all further calls on `cuda_stream`, a cudaStream_t of the world's GPU that the caller owns and keeps until
// the world is on another stream; NULL: back to the world's own. The new stream waits for what is on the old one. The
// stream may be capturing a CUDA graph: collectives on device memory can be captured, and replayed as long as all PEs
// replay the same.
sparkgap_status sparkgap_world_set_stream(sparkgap_world* world, void* cuda_stream);

// A point in the stream. Destroy it before the world. *event is NULL on failure.
sparkgap_status sparkgap_event_create(sparkgap_world* world, sparkgap_event** event);
// The point is the end of all that is enqueued now.
sparkgap_status sparkgap_event_record(sparkgap_world* world, sparkgap_event* event);
// The stream waits for the point; the host does not.
sparkgap_status sparkgap_event_wait(sparkgap_world* world, sparkgap_event* event);
// The host waits for the point, like sparkgap_synchronize.
sparkgap_status sparkgap_event_synchronize(sparkgap_world* world, sparkgap_event* event);
// Time between two points that have been reached.
sparkgap_status sparkgap_event_elapsed_us(sparkgap_world* world, sparkgap_event* start, sparkgap_event* end,
                                          double* microseconds);
// NULL is accepted.
void sparkgap_event_destroy(sparkgap_event* event);

// ---- Symmetric heap

// Collective: `bytes` on every PE, zeroed, aligned to 4096. All PEs must ask for the same number.
sparkgap_status sparkgap_allocate(sparkgap_world* world, uint64_t bytes, sparkgap_buffer** buffer);

// Collective in that every PE frees the same buffers in the same order, between the same calls, but none waits: the
// memory goes when the last PE has freed its end. Where PEs free in another order, or on another side of a call, the
// next call that waits fails with MISMATCH. The buffer must not be used afterwards.
sparkgap_status sparkgap_free(sparkgap_world* world, sparkgap_buffer* buffer);

// This PE's part; NULL only for a buffer of zero bytes. A device address in a GPU world.
void* sparkgap_buffer_address(const sparkgap_buffer* buffer);
uint64_t sparkgap_buffer_bytes(const sparkgap_buffer* buffer);

// Where this process sees `pe`'s part; NULL if that PE's memory cannot be addressed directly.
void* sparkgap_buffer_peer_address(const sparkgap_buffer* buffer, int32_t pe);

// ---- One-sided. Offsets are into `pe`'s part of the buffer; ranges are checked. Signals are 64-bit, aligned to 8.
// In a GPU world these are enqueued, too; those that write a result for the host (*observed, *before, a `dst` in host
// memory) or read host memory return when they are done.

// Returns when `src` may be reused; a `src` in device memory, when what is enqueued after may write it. The data is
// visible to `pe` after the next barrier or a signal sent after it.
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
// memory of this process. Large messages are read where they are (routes named .../direct), which saves a copy: where
// `in` lies in a symmetric buffer on every PE, and, by collectives that reduce nothing, where the kernel lets the PEs'
// processes read each other. `in` and `out` are either in place (as said below) or must not overlap.

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

// Waits until everything that this PE has enqueued is done; at most peer_timeout_ms. Host-memory calls are done when
// they return.
sparkgap_status sparkgap_synchronize(sparkgap_world* world);

// ---- Steps: collectives and one-sided calls that are recorded once and then made as one call, again and again.
// Results are the same bits as of the calls one by one.

// From here to sparkgap_step_end or _drop, by the same thread, collectives and one-sided calls on this handle are
// checked and recorded, and not made; whether a PE records what the others record shows when they run. Nothing else can
// be part of a step: allocate, free, synchronize, finish, streams, events, a word to be written for the host
// (*observed, *before), another recording and the run of another step are refused with INVALID_ARGUMENT, and the
// recording goes on. In a GPU world the stream is captured meanwhile, so that whatever the caller enqueues on it
// becomes part of the step, too; host memory is refused. In a world in host memory only the calls are recorded.
sparkgap_status sparkgap_step_begin(sparkgap_world* world);

// *step is what was recorded, or NULL on failure: INVALID_ARGUMENT if the caller has done something meanwhile that a
// stream in capture does not bear. Either way nothing is recorded any more, and the world is as it was. The step keeps
// the addresses and the algorithms of its calls: private memory that they use has to stay until the step is destroyed,
// and the symmetric buffers cannot be freed before that. allToAllv's counts and offsets are copied.
sparkgap_status sparkgap_step_end(sparkgap_world* world, sparkgap_step** step);

// Forgets what was recorded.
sparkgap_status sparkgap_step_drop(sparkgap_world* world);

// Makes the calls in their order, each of them numbered, compared and limited in time as if it were made by itself; an
// error says which call of which step it was. On GPUs all is enqueued at once. Collective as its calls are: every PE
// runs a step with the same collectives. Allocates nothing.
sparkgap_status sparkgap_step_run(sparkgap_world* world, sparkgap_step* step);

// By which errors name it, from 1 in the order in which a handle records; 0 for NULL.
int32_t sparkgap_step_number(const sparkgap_step* step);

// How many calls it has, a put_signal being one; 0 for NULL.
int32_t sparkgap_step_calls(const sparkgap_step* step);

// Not collective. On GPUs what is enqueued runs to its end. The world's end destroys those that are left.
sparkgap_status sparkgap_step_destroy(sparkgap_world* world, sparkgap_step* step);

// ---- Selection

// Provider and algorithm that a collective of this size takes now, for example "host/one-shot"; "" if there can be no
// such call, and why is then the last error. Static text, never NULL.
const char* sparkgap_route(sparkgap_world* world, int32_t collective, uint64_t count, int32_t type);

// Holds a collective to one algorithm (by the name in sparkgap_route after the '/'), or gives it back to the selector
// with NULL or "auto". A message that this algorithm cannot carry (packets: a large one) still goes the selector's way.
// All PEs must do the same. For measurement, tests and people who know better.
sparkgap_status sparkgap_world_set_algorithm(sparkgap_world* world, int32_t collective, const char* algorithm);

// What a collective can be held to in this world, for example "packets, one-shot"; "" if there is no such collective, and
// that is then the last error. Static text, never NULL.
const char* sparkgap_algorithms(sparkgap_world* world, int32_t collective);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif  // SPARKGAP_SPARKGAP_H
