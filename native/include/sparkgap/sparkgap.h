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

#include "sparkgap/collectives.h"
#include "sparkgap/devices.h"
#include "sparkgap/kernels.h"
#include "sparkgap/memory.h"
#include "sparkgap/routes.h"
#include "sparkgap/rows.h"
#include "sparkgap/steps.h"
#include "sparkgap/streams.h"
#include "sparkgap/types.h"
#include "sparkgap/world.h"

#endif  // SPARKGAP_SPARKGAP_H
