// Where messages lie in the room that a receiver keeps for one sender: one after the other, each whole, and again from
// the beginning where what is left to the end does not hold one. Both sides know how large each message is and come to
// the same places without a word of them. Small messages take little, so that very many may be on the way.
//
// Positions count in units and only grow; a place is a position's rest by the room's size.
#ifndef SPARKGAP_PROTOCOL_NODES_ROOM_H
#define SPARKGAP_PROTOCOL_NODES_ROOM_H

#include <algorithm>
#include <cstdint>

namespace sparkgap {

class Room {
 public:
  static constexpr uint64_t kUnitBytes = 512;
  static constexpr uint64_t kLargestMessages = 9;

  // For messages of up to `largest` bytes, a multiple of a unit.
  explicit Room(uint64_t largest) : units_(kLargestMessages * largest / kUnitBytes) {}

  uint64_t units() const { return units_; }
  uint64_t bytes() const { return units_ * kUnitBytes; }

  // Of a message of so many bytes that follows on what ends at `position`.
  uint64_t begin(uint64_t position, uint64_t bytes) const {
    const uint64_t left = units_ - position % units_;
    return units_of(bytes) <= left ? position : position + left;
  }
  uint64_t end(uint64_t position, uint64_t bytes) const { return begin(position, bytes) + units_of(bytes); }
  uint64_t offset(uint64_t begin) const { return begin % units_ * kUnitBytes; }

  // Whether a message that ends there overwrites nothing from `released` on.
  bool has(uint64_t end, uint64_t released) const { return end - released <= units_; }
  // Whether a receiver that has told the sender of `told` has to tell more. What it keeps to itself, and what is left
  // free at the end of the room, leave room for Channels::kMessagesAhead of the largest messages.
  bool is_to_be_told(uint64_t released, uint64_t told) const { return released - told >= units_ / kToldPart; }

 private:
  // A part of the room.
  static constexpr uint64_t kToldPart = 4;

  // Also a message without data is counted.
  static uint64_t units_of(uint64_t bytes) { return std::max<uint64_t>(1, (bytes + kUnitBytes - 1) / kUnitBytes); }

  uint64_t units_;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROTOCOL_NODES_ROOM_H
