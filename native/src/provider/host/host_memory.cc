#include "provider/host/host_memory.h"

#include <errno.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "protocol/wait.h"
#include "provider/host/segment.h"

namespace sparkgap {
namespace {

constexpr uint64_t kPieceBytes = 16 << 20;

// How a part of the work went on one PE; travels through that PE's slot.
struct Outcome {
  int32_t status = SPARKGAP_OK;
  int32_t fd = -1;    // PE 0: where the segment is
  uint64_t free = 0;  // PE 0: bytes free before any PE reserved its part
  char message[kMaxMessageBytes] = "";
};

class HostMemory final : public SymmetricMemory {
 public:
  HostMemory(Segment segment, uint64_t stride) : segment_(std::move(segment)), stride_(stride) {}
  uint8_t* part(int32_t pe) const override { return segment_.base() + static_cast<uint64_t>(pe) * stride_; }

 private:
  Segment segment_;
  uint64_t stride_;
};

// Runs a step of the work and keeps a failure for the others to hear of.
template <class Work>
Outcome attempt(const Work& work) {
  Outcome outcome;
  try {
    work(outcome);
  } catch (const Failure& failure) {
    outcome.status = failure.status;
    std::memcpy(outcome.message, failure.message, sizeof outcome.message);
  }
  return outcome;
}

// Tells all PEs this PE's outcome and throws the first failure among all of them, in PE order.
void agree(const Outcome& own, const Control& control, const WorldOptions& options, Steps& steps) {
  steps.begin();
  std::memcpy(steps.slot(options.pe), &own, sizeof own);
  steps.post();
  steps.wait_for_all();
  for (int32_t pe = 0; pe < options.pes; ++pe) {
    Outcome outcome;
    std::memcpy(&outcome, steps.slot(pe), sizeof outcome);
    if (outcome.status != SPARKGAP_OK) {
      outcome.message[sizeof outcome.message - 1] = '\0';
      const bool is_known = outcome.status > SPARKGAP_OK && outcome.status <= SPARKGAP_DEVICE_FAILED;
      fail(is_known ? outcome.status : SPARKGAP_INTERNAL, pe, "PE %d (%s): %s", pe, control.label(pe).c_str(),
           outcome.message);
    }
  }
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

void reserve_part(Segment& segment, const WorldOptions& options, const Control& control, uint64_t bytes,
                  uint64_t stride, uint64_t free) {
  const uint64_t begin = static_cast<uint64_t>(options.pe) * stride;
  const int error = reserve_pieces(segment, control, begin, begin + stride);
  if (error == 0) return;
  if (error != ENOSPC) {
    fail(SPARKGAP_OUT_OF_MEMORY, options.pe, "cannot reserve %llu bytes in %s: %s",
         static_cast<unsigned long long>(stride), options.host_directory.c_str(), std::strerror(error));
  }
  char message[kMaxMessageBytes];
  Text text(message, sizeof message);
  text.add("a symmetric buffer of %llu bytes on each of %d PEs ", static_cast<unsigned long long>(bytes), options.pes);
  describe_shortage(text, options.host_directory, stride * static_cast<uint64_t>(options.pes), free);
  fail(SPARKGAP_OUT_OF_MEMORY, options.pe, "%s", message);
}

}  // namespace

std::unique_ptr<SymmetricMemory> allocate_host_memory(const WorldOptions& options, const Control& control,
                                                      pid_t process_of_pe_0, uint64_t bytes, Steps& steps) {
  const uint64_t stride = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  const uint64_t total = stride * static_cast<uint64_t>(options.pes);
  Segment segment;

  const Outcome made = attempt([&](Outcome& outcome) {
    if (options.pe != 0) return;
    outcome.free = free_bytes(options.host_directory);
    segment = Segment::make(options.host_directory, total);
    outcome.fd = segment.fd();
  });
  agree(made, control, options, steps);

  Outcome of_pe_0;
  std::memcpy(&of_pe_0, steps.slot(0), sizeof of_pe_0);
  const Outcome reserved = attempt([&](Outcome&) {
    if (options.pe != 0) segment = Segment::open(process_of_pe_0, of_pe_0.fd, total);
    reserve_part(segment, options, control, bytes, stride, of_pe_0.free);
  });
  agree(reserved, control, options, steps);

  segment.close_descriptor();
  return std::make_unique<HostMemory>(std::move(segment), stride);
}

}  // namespace sparkgap
