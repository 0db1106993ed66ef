// A piece of memory that processes of one host share: an inode without a name, so that nothing can be left behind.
//
// The maker holds it open; a peer opens it through /proc/<pid of the maker>/fd/<fd>, which the kernel allows to
// processes of the same user only. Once mapped, no descriptor is needed any more. Memory is reserved before it is
// touched: too little is an error at that moment and never a SIGBUS later.
//
// It is the kernel's own (memfd_create), whose size is sealed: no peer can take it away from the others. Or a file of a
// directory, a tmpfs, where one is named; there any process of the same user may cut it, for files have no seals.
#ifndef SPARKGAP_PROVIDER_HOST_SEGMENT_H
#define SPARKGAP_PROVIDER_HOST_SEGMENT_H

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/error.h"

namespace sparkgap {

class Segment {
 public:
  Segment() = default;
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  ~Segment();

  // Makes a segment of `bytes` zeros, with nothing reserved yet, and maps it. `directory`: "" for the kernel's own.
  static Segment make(const std::string& directory, uint64_t bytes);

  // Opens and maps what process `pid` holds as descriptor `fd`. Throws UNAVAILABLE, with errno's meaning, if it cannot
  // be opened, or if it is nothing of exactly `bytes`, sealed unless `directory` names one.
  static Segment open(const std::string& directory, pid_t pid, int fd, uint64_t bytes);

  // Reserves memory for a range of whole pages: 0 or an errno; part of it may be reserved then.
  int reserve(uint64_t offset, uint64_t bytes);

  // What is no longer needed once all peers have mapped the segment.
  void close_descriptor();

  int fd() const { return fd_; }
  uint8_t* base() const { return base_; }
  uint64_t bytes() const { return bytes_; }

 private:
  void map(const std::string& where);

  int fd_ = -1;
  uint8_t* base_ = nullptr;
  uint64_t bytes_ = 0;
};

// Bytes that can still be written under `directory`, "": of memory; kUnlimitedBytes if nothing says.
uint64_t free_bytes(const std::string& directory);

// "memory", or "memory in /dev/shm".
std::string place(const std::string& directory);

// Adds "needs 8388608 bytes (all PEs of the host together) in /dev/shm, where 4096 are free. Enlarge it ...".
void describe_shortage(Text& text, const std::string& directory, uint64_t needed, uint64_t free);

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_HOST_SEGMENT_H
