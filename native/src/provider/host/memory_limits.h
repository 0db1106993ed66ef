// How much memory there is for symmetric buffers that are in no file system: what the host has free, and what the
// limits of this process's container leave.
#ifndef SPARKGAP_PROVIDER_HOST_MEMORY_LIMITS_H
#define SPARKGAP_PROVIDER_HOST_MEMORY_LIMITS_H

#include <cstdint>
#include <string>

namespace sparkgap {

constexpr uint64_t kUnlimitedBytes = UINT64_MAX;

// Bytes that can be had now without swapping; files that are only cached count as free. kUnlimitedBytes if nothing
// says. `root` stands before /proc and /sys: empty but in tests.
uint64_t free_memory(const std::string& root = "");

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_HOST_MEMORY_LIMITS_H
