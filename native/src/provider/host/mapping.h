// How a segment is mapped: anew for each PE, so that PEs of one process are to each other what processes are. In a
// build for the thread sanitizer (SPARKGAP_ONE_MAPPING) all PEs of a process share one mapping, because it knows memory
// by its address and would else not see that two of them touch the same.
#ifndef SPARKGAP_PROVIDER_HOST_MAPPING_H
#define SPARKGAP_PROVIDER_HOST_MAPPING_H

#include <cstdint>

namespace sparkgap {

// All `bytes` of an open file; nullptr, and errno says why. Any thread.
uint8_t* map_file(int fd, uint64_t bytes);

// What map_file gave, once for each call of it.
void unmap_file(uint8_t* base, uint64_t bytes);

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_HOST_MAPPING_H
