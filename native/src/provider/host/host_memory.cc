#include "provider/host/host_memory.h"

#include <errno.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "protocol/agreement.h"
#include "protocol/wait.h"
#include "provider/host/segment.h"

namespace sparkgap {
namespace {

constexpr uint64_t kPieceBytes = 16 << 20;

// What the others need to map the segment that PE 0 has made.
struct Offer {
  int32_t fd;
  uint64_t free;  // bytes free before any PE reserved its part
};

class HostMemory final : public SymmetricMemory {
 public:
  HostMemory(Segment segment, uint64_t stride, const Node& node)
      : segment_(std::move(segment)), stride_(stride), first_pe_(node.first_pe()), pes_(node.pes()) {}

  uint8_t* part(int32_t pe) const override {
    const int32_t local = pe - first_pe_;
    if (__builtin_expect(local < 0 || local >= pes_, 0)) return nullptr;
    return segment_.base() + static_cast<uint64_t>(local) * stride_;
  }

 private:
  Segment segment_;
  uint64_t stride_;
  int32_t first_pe_;
  int32_t pes_;
};

// Runs a step of the work and keeps a failure for the others to hear of.
template <class Work>
Failure attempt(const Work& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure;
  }
  return {};
}

// In pieces, between which the others hear that this PE is at work.
int reserve_pieces(Segment& segment, const Control& control, uint64_t begin, uint64_t end) {
  for (uint64_t piece = begin; piece < end; piece += kPieceBytes) {
    const uint64_t bytes = std::min(kPieceBytes, end - piece);
    if (const int error = segment.reserve(piece, bytes); error != 0) return error;
    // Page tables now rather than at first touch, so that the first collective is as fast as the second.
    madvise(segment.base() + piece, bytes, MADV_POPULATE_WRITE);
    tell_progress(control);
  }
  return 0;
}

void reserve_part(Segment& segment, const WorldOptions& options, const Node& node, uint64_t bytes, uint64_t stride,
                  uint64_t free) {
  const uint64_t begin = static_cast<uint64_t>(node.pe()) * stride;
  // What is known to be too much is not tried: pieces that are there already are memory that others may need, and
  // memory that there is not is the end of some process.
  const bool fits = stride * static_cast<uint64_t>(node.pes()) <= free;
  const int error = fits ? reserve_pieces(segment, node.control(), begin, begin + stride) : ENOSPC;
  if (error == 0) return;
  if (error != ENOSPC) {
    fail(SPARKGAP_OUT_OF_MEMORY, options.pe, "cannot reserve %llu bytes of %s: %s",
         static_cast<unsigned long long>(stride), place(options.host_directory).c_str(), std::strerror(error));
  }
  char message[kMaxMessageBytes];
  Text text(message, sizeof message);
  text.add("a symmetric buffer of %llu bytes on each of %d PEs ", static_cast<unsigned long long>(bytes), node.pes());
  describe_shortage(text, options.host_directory, stride * static_cast<uint64_t>(node.pes()), free);
  fail(SPARKGAP_OUT_OF_MEMORY, options.pe, "%s", message);
}

}  // namespace

std::unique_ptr<SymmetricMemory> allocate_host_memory(const WorldOptions& options, Node& node, uint64_t bytes) {
  const uint64_t stride = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  const uint64_t total = stride * static_cast<uint64_t>(node.pes());
  Segment segment;

  Offer mine = {-1, 0};
  const Failure made = attempt([&] {
    if (node.pe() != 0) return;
    mine.free = free_bytes(options.host_directory);
    segment = Segment::make(options.host_directory, total);
    mine.fd = segment.fd();
  });
  const Offer of_pe_0 = agree(node, made, "", mine)[0];

  const Failure reserved = attempt([&] {
    if (node.pe() != 0) segment = Segment::open(options.host_directory, node.process(0), of_pe_0.fd, total);
    reserve_part(segment, options, node, bytes, stride, of_pe_0.free);
  });
  agree(node, reserved, "");

  segment.close_descriptor();
  return std::make_unique<HostMemory>(std::move(segment), stride, node);
}

}  // namespace sparkgap
