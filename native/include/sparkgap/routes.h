// Routes: which one a call takes, from what, and what the next best would cost. See sparkgap.h.
#ifndef SPARKGAP_ROUTES_H
#define SPARKGAP_ROUTES_H

#include "sparkgap/types.h"

#ifdef __cplusplus
extern "C" {
#endif

// The library is built with hidden visibility; what is declared here is what it shows.
#pragma GCC visibility push(default)

// Provider and algorithm that a collective of this size takes now, for example "host/one-shot"; "" if there can be no
// such call, and why is then the last error. Static text, never NULL.
const char* sparkgap_route(sparkgap_world* world, int32_t collective, uint64_t count, int32_t type);

// Holds a collective to one algorithm (as sparkgap_route names it, with or without the provider), or gives it back to
// the selector with NULL or "auto". A message that this algorithm cannot carry (packets: a large one) still goes the
// selector's way. All PEs must do the same. For measurement, tests and people who know better.
sparkgap_status sparkgap_world_set_algorithm(sparkgap_world* world, int32_t collective, const char* algorithm);

// What a collective can be held to in this world, for example "packets, one-shot"; "" if there is no such collective,
// and that is then the last error. Static text, never NULL.
const char* sparkgap_algorithms(sparkgap_world* world, int32_t collective);

// A row of a tuning table (docs/tuning.md): messages of up to most_bytes of `collective` go by `route`, for example
// "host/one-shot". Rows of a collective stand in the order of their sizes.
typedef struct sparkgap_tuning_row {
  int32_t collective;   // SPARKGAP_ALL_REDUCE...SPARKGAP_BARRIER
  uint64_t most_bytes;  // UINT64_MAX: all
  const char* route;
  // How the kernel of a GPU world is launched; blocks 0: as it is built in. The others are ignored then.
  int32_t blocks;        // at most
  int32_t threads;       // of a block
  int32_t senders;       // warps that send; 0: bulk copies by one thread
  int32_t groups;        // of the other warps
  uint32_t chunk_bytes;  // at most
} sparkgap_tuning_row;

// What a call of that size was measured to take. Those of a collective and route stand in the order of their sizes.
typedef struct sparkgap_tuning_time {
  int32_t collective;
  const char* route;
  uint64_t bytes;
  double microseconds;  // more than 0
} sparkgap_tuning_time;

// What worlds like the one that it is for were measured to do best.
typedef struct sparkgap_tuning_table {
  const char* name;  // at most 63 bytes
  // The worlds that it is for. Ranges include both ends.
  const char* provider;  // "host", "nvshmem" or "nccl"
  const char* device;    // NULL or "": any
  const char* nvshmem;   // a release, "3.4" being any 3.4.x; NULL or "": any
  const char* nccl;      // likewise
  int32_t link;          // SPARKGAP_LINK_... of the slowest link; -1: any
  int32_t pes_from;
  int32_t pes_to;
  int32_t nodes_from;
  int32_t nodes_to;
  int32_t lanes_from;  // of kernels
  int32_t lanes_to;    // 0: any
  int32_t shared;      // not 0: for worlds of more PEs than CPUs or GPUs, and no others
  const sparkgap_tuning_row* rows;
  int32_t row_count;
  const sparkgap_tuning_time* times;
  int32_t time_count;
} sparkgap_tuning_table;

// Between create and connect: the tables that this world may go by. Copied. Connect takes the first whose key fits the
// world, and refuses PEs that were given different ones with MISMATCH. A table that is wrong in itself is refused here,
// with its name, row and what is wrong, and the world has none; it is good to be connected all the same. Whatever a
// table has no row for goes by the rules that are built in.
sparkgap_status sparkgap_world_set_tables(sparkgap_world* world, const sparkgap_tuning_table* tables, int32_t count);

// Between create and connect. not 0: calls go by those routes alone that give the same bits on every PE and in every
// run of as many PEs. All of ours do; what NCCL reduces may not. Connect fails with UNAVAILABLE in a world that has no
// other way, and with MISMATCH if PEs differ.
sparkgap_status sparkgap_world_set_deterministic(sparkgap_world* world, int32_t on);

// Between create and connect: what is to be believed of the world more than what connect finds, as far as routes go,
// and the same on all PEs: items of "links=pcie,shared=false,latency=4,bandwidth=20" (the slowest link; whether PEs
// share CPUs or GPUs; that link's microseconds and GB/s, which the estimates are made of). "" or NULL: nothing. What
// cannot be is refused with INVALID_ARGUMENT and what would be allowed.
sparkgap_status sparkgap_world_set_topology(sparkgap_world* world, const char* hints);

// Which table is in use, and why others are not, as a line for logs: "table host-2-pes; passed over host-4-pes (for 4
// PEs, this world has 2)". "" before connect, and where there are none. Valid until the world is destroyed.
const char* sparkgap_world_tables_told(sparkgap_world* world);

// Of a connected world: the key of a table for worlds like it, by which connect takes this world's table or passes it
// over. Each range is of one number, the texts are valid until the world is destroyed, and there are no name and no
// rows. Waits for nobody.
sparkgap_status sparkgap_world_key(sparkgap_world* world, sparkgap_tuning_table* key);

// Why a call takes its route.
enum { SPARKGAP_BY_RULE = 0, SPARKGAP_BY_TABLE = 1, SPARKGAP_BY_HOLD = 2 };

typedef struct sparkgap_explanation {
  const char* route;       // as sparkgap_route; static
  const char* table;       // the name of the table in use, "" if there is none; valid until the world is destroyed
  int32_t reason;          // SPARKGAP_BY_...
  int32_t measured;        // not 0: the time was measured and is in the table; 0: it is estimated
  double microseconds;     // what a call takes, of float32 where it has a type; on GPUs by graph
  const char* next_route;  // the fastest of the others that could carry it; "" if there is none; static
  int32_t next_measured;
  double next_microseconds;
} sparkgap_explanation;

// What sparkgap_route says, with the reason and the next best. Of a connected world; allocates nothing, waits for
// nobody.
sparkgap_status sparkgap_explain(sparkgap_world* world, int32_t collective, uint64_t count, int32_t type,
                                 sparkgap_explanation* explanation);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif  // SPARKGAP_ROUTES_H
