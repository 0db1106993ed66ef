// What calls that exchange rows ask of their arguments. Every check throws INVALID_ARGUMENT with what was given.
#ifndef SPARKGAP_WORLD_ROWS_H
#define SPARKGAP_WORLD_ROWS_H

#include "description/rows.h"
#include "world/world.h"

namespace sparkgap {

// What follows from a shape in this world.
RowsPlan plan_rows(const World& world, const sparkgap_rows_shape* shape);

// The call with all that does not lie in the memory that it names.
RowsCall checked_rows_call(const World& world, int32_t operation, Buffer* buffer, const sparkgap_rows_shape* shape,
                           const void* in, const int32_t* indices, const float* weights, void* out, uint64_t rows);

// A combine finds its rows by what the last dispatch left in the buffer: refused where that is of another shape. The
// call is kept when it has been made, and forgotten where it was kept and not made.
void check_last_rows(const RowsCall& call);
void keep_last_rows(const RowsCall& call);
void forget_last_rows(const RowsCall& call);

// What lies there, in host memory: when the call is made, which in a step is later. `own`: this PE's part.
void check_contents(const RowsCall& call, const uint8_t* own);

}  // namespace sparkgap

#endif  // SPARKGAP_WORLD_ROWS_H
