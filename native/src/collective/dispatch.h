// From a checked call to the algorithm that the selector names.
#ifndef SPARKGAP_COLLECTIVE_DISPATCH_H
#define SPARKGAP_COLLECTIVE_DISPATCH_H

#include <cstdint>

#include "collective/all_to_allv/staged.h"
#include "world.h"

namespace sparkgap {

void all_reduce(World& world, const void* in, void* out, uint64_t count, int32_t type, int32_t op);
void reduce_scatter(World& world, const void* in, void* out, uint64_t count_per_pe, int32_t type, int32_t op);
void all_gather(World& world, const void* in, void* out, uint64_t count_per_pe, int32_t type);
void broadcast(World& world, const void* in, void* out, uint64_t count, int32_t type, int32_t root);
void reduce(World& world, const void* in, void* out, uint64_t count, int32_t type, int32_t op, int32_t root);
void all_to_all(World& world, const void* in, void* out, uint64_t count_per_pe, int32_t type);
void all_to_allv(World& world, const void* in, const BlockTable& send, void* out, const BlockTable& receive,
                 int32_t type);
void barrier(World& world);

}  // namespace sparkgap

#endif  // SPARKGAP_COLLECTIVE_DISPATCH_H
