#include "provider/host/mapping.h"

#include <sys/mman.h>

#ifdef SPARKGAP_ONE_MAPPING
#include <sys/stat.h>

#include <algorithm>
#include <mutex>
#include <vector>
#endif

namespace sparkgap {
namespace {

uint8_t* map_anew(int fd, uint64_t bytes) {
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return address == MAP_FAILED ? nullptr : static_cast<uint8_t*>(address);
}

}  // namespace

#ifndef SPARKGAP_ONE_MAPPING

uint8_t* map_file(int fd, uint64_t bytes) { return map_anew(fd, bytes); }

void unmap_file(uint8_t* base, uint64_t bytes) { munmap(base, bytes); }

#else

namespace {

struct Mapping {
  dev_t device;
  ino_t inode;
  uint8_t* base;
  int users;
};

std::mutex mutex;
std::vector<Mapping> mappings;

}  // namespace

uint8_t* map_file(int fd, uint64_t bytes) {
  struct stat file;
  if (fstat(fd, &file) != 0) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex);
  for (Mapping& mapping : mappings) {
    if (mapping.device != file.st_dev || mapping.inode != file.st_ino) continue;
    ++mapping.users;
    return mapping.base;
  }
  uint8_t* base = map_anew(fd, bytes);
  if (base != nullptr) mappings.push_back({file.st_dev, file.st_ino, base, 1});
  return base;
}

void unmap_file(uint8_t* base, uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found =
      std::find_if(mappings.begin(), mappings.end(), [base](const Mapping& mapping) { return mapping.base == base; });
  if (--found->users > 0) return;
  mappings.erase(found);
  munmap(base, bytes);
}

#endif

}  // namespace sparkgap
