#include "protocol/control.h"

#include <algorithm>
#include <cstring>

namespace sparkgap {
namespace {

// Slots of a small world are as large as a core's L2 cache together: smaller ones are slower, because a line that its
// writer still holds dirty takes longer to get than one that has moved on to the shared cache. Worlds of many PEs share
// what eight PEs have.
constexpr uint64_t kMostSlotBytes = 512 * 1024;
constexpr uint64_t kLeastSlotBytes = 32 * 1024;
constexpr uint64_t kStagingBytes = 8 * 1024 * 1024;

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

template <size_t size>
std::string bounded_text(const char (&shared)[size]) {
  char text[size];
  std::memcpy(text, shared, size);
  return std::string(text, strnlen(text, size));
}

}  // namespace

ControlLayout ControlLayout::of(int32_t pes) {
  const uint64_t n = static_cast<uint64_t>(pes);
  ControlLayout layout;
  layout.slot_bytes = std::clamp(kStagingBytes / kSlots / n / kPageBytes * kPageBytes, kLeastSlotBytes, kMostSlotBytes);
  layout.records = sizeof(ControlHeader);
  layout.steps = round_up(layout.records + n * sizeof(PeRecord), kPageBytes);
  layout.calls = round_up(layout.steps + n * sizeof(StepLine), kPageBytes);
  layout.packets = round_up(layout.calls + n * sizeof(CallLine), kPageBytes);
  layout.staging = round_up(layout.packets + n * kSlots * kPacketLines * sizeof(Packet), kPageBytes);
  layout.segment_bytes = round_up(layout.staging + n * kSlots * layout.slot_bytes, kPageBytes);
  return layout;
}

Control::Control(void* base, int32_t pes) : base_(static_cast<uint8_t*>(base)), pes_(pes) {
  const ControlLayout layout = ControlLayout::of(pes);
  records_ = reinterpret_cast<PeRecord*>(base_ + layout.records);
  steps_ = reinterpret_cast<StepLine*>(base_ + layout.steps);
  calls_ = reinterpret_cast<CallLine*>(base_ + layout.calls);
  packets_ = reinterpret_cast<Packet*>(base_ + layout.packets);
  staging_ = base_ + layout.staging;
  slot_bytes_ = layout.slot_bytes;
}

std::string Control::label(int32_t pe) const { return bounded_text(record(pe).label); }

std::string Control::host(int32_t pe) const { return bounded_text(record(pe).host); }

}  // namespace sparkgap
