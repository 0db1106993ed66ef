// What there can be too little of beside bytes, where memory is made in a tmpfs. Each function looks at an errno,
// throws OUT_OF_MEMORY with what there is and what to raise if it means that, and otherwise returns.
#ifndef SPARKGAP_PROVIDER_HOST_SHORTAGE_H
#define SPARKGAP_PROVIDER_HOST_SHORTAGE_H

#include <cstdint>
#include <string>

namespace sparkgap {

// After a failed open in `directory`: a tmpfs counts its files apart from their bytes.
void refuse_without_inodes(int error, const std::string& directory);

// After a failed mmap of `bytes` of `where`: a process may have so many mappings, whatever their size.
void refuse_without_mappings(int error, uint64_t bytes, const std::string& where);

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_HOST_SHORTAGE_H
