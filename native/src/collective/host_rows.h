// The algorithms on host memory that exchange rows: one function each, in the file that begins with what it does.
#ifndef SPARKGAP_COLLECTIVE_HOST_ROWS_H
#define SPARKGAP_COLLECTIVE_HOST_ROWS_H

#include "collective/host_node.h"
#include "description/rows.h"

namespace sparkgap {

// Carry out a call that has been checked. The first throws, on all PEs alike, if there is no room for the rows.
void dispatch_direct(HostNode& node, const RowsCall& call);
void combine_direct(HostNode& node, const RowsCall& call);

// What lies at `at` in PE `pe`'s part of the buffer that the call goes through.
template <class Item>
Item* in_part(const RowsCall& call, int32_t pe, uint64_t at) {
  return reinterpret_cast<Item*>(call.memory->part(pe) + at);
}

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_HOST_ROWS_H
