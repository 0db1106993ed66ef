// Where the parts of a mapped control segment are.
#ifndef SPARKGAP_PROTOCOL_CONTROL_H
#define SPARKGAP_PROTOCOL_CONTROL_H

#include <cstdint>
#include <string>

#include "protocol/layout.h"

namespace sparkgap {

// Offsets and sizes; depends on the number of PEs only, so that every PE computes the same.
struct ControlLayout {
  uint64_t records;
  uint64_t steps;
  uint64_t calls;
  uint64_t packets;
  uint64_t staging;
  uint64_t slot_bytes;
  uint64_t segment_bytes;

  static ControlLayout of(int32_t pes);
};

// One process's view of a control segment. Does not own the mapping.
class Control {
 public:
  Control() = default;
  Control(void* base, int32_t pes);

  explicit operator bool() const { return base_ != nullptr; }
  ControlHeader& header() const { return *reinterpret_cast<ControlHeader*>(base_); }
  PeRecord& record(int32_t pe) const { return records_[pe]; }
  StepLine& step_line(int32_t pe) const { return steps_[pe]; }
  CallLine& call_line(int32_t pe) const { return calls_[pe]; }
  Packet* packets(int32_t pe, uint64_t step) const {
    return packets_ + (static_cast<uint64_t>(pe) * kSlots + step % kSlots) * kPacketLines;
  }
  uint8_t* slot(int32_t pe, uint64_t step) const {
    return staging_ + (static_cast<uint64_t>(pe) * kSlots + step % kSlots) * slot_bytes_;
  }
  uint64_t slot_bytes() const { return slot_bytes_; }

  // For errors. Whoever else maps the segment may write there at any time, so they may lack their end.
  std::string label(int32_t pe) const;
  std::string host(int32_t pe) const;
  int32_t pes() const { return pes_; }
  // What the world calls a PE of this segment.
  int32_t world_pe(int32_t pe) const { return header().first_pe + pe; }

 private:
  uint8_t* base_ = nullptr;
  PeRecord* records_ = nullptr;
  StepLine* steps_ = nullptr;
  CallLine* calls_ = nullptr;
  Packet* packets_ = nullptr;
  uint8_t* staging_ = nullptr;
  uint64_t slot_bytes_ = 0;
  int32_t pes_ = 0;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_CONTROL_H
