#include "collective/direct.h"

#include <algorithm>
#include <cstring>

#include "collective/chunks.h"
#include "provider/host/peer_process.h"

namespace sparkgap {
namespace {

constexpr uint64_t kPieceBytes = 16 << 20;

// An array of which each PE reads so much goes into the slot although it could be fetched out of the PE's process: that
// costs 2 us for the call alone, and a step in which PEs say that they have it. Of 16 KiB, one or the other is the
// faster one by which cores the PEs are on.
constexpr uint64_t kMostReadOutOfSlotWhereFetched = 8 << 10;
// Where PEs share cores a step more is a switch between them; above, to put all of it there before anybody reads costs
// more, also against the other algorithm, which goes piece by piece.
constexpr uint64_t kMostReadOutOfSlotWhenSharing = 64 << 10;

uint64_t most_read_out_of_slot(const HostNode& node, bool is_fetched) {
  if (node.steps().waiter().options().shares_cores) return kMostReadOutOfSlotWhenSharing;
  return is_fetched ? kMostReadOutOfSlotWhereFetched : node.steps().slot_bytes();
}

// Where an array lies, as PEs show it. They have made the same allocations in the same order, so a buffer has the same
// index on all.
struct Place {
  enum Kind : uint64_t { kOutOfReach = 0, kInBuffer, kInProcess, kInSlot };
  Kind kind = kOutOfReach;
  uint64_t buffer = 0;
  uint64_t offset = 0;   // in the buffer; kInProcess: address in the PE's process
  bool changes = false;  // kInSlot: the array itself is written to before all have read it
};

// One word, of which the lowest bits are the kind: | offset, 46 bits | buffer, 16 bits | kind |, kInProcess: | address,
// 62 bits | kind |, kInSlot: | changes | kind |.
constexpr uint64_t kKindBits = 2;
constexpr uint64_t kBufferBits = 16;
constexpr uint64_t kOffsetBits = 64 - kKindBits - kBufferBits;
constexpr uint64_t below(uint64_t bits) { return uint64_t{1} << bits; }

uint64_t packed(const Place& place) {
  uint64_t behind = 0;
  if (place.kind == Place::kInBuffer) behind = place.offset << kBufferBits | place.buffer;
  if (place.kind == Place::kInProcess) behind = place.offset;
  if (place.kind == Place::kInSlot) behind = place.changes;
  return behind << kKindBits | place.kind;
}

Place unpacked(uint64_t word) {
  Place place;
  place.kind = static_cast<Place::Kind>(word % below(kKindBits));
  const uint64_t behind = word >> kKindBits;
  if (place.kind == Place::kInBuffer) {
    place.buffer = behind % below(kBufferBits);
    place.offset = behind >> kBufferBits;
  }
  if (place.kind == Place::kInProcess) place.offset = behind;
  if (place.kind == Place::kInSlot) place.changes = behind != 0;
  return place;
}

Place place_in_heap(const HostNode& node, const void* array, uint64_t bytes) {
  Place place;
  const std::vector<HostRange>& ranges = node.ranges();
  const uint8_t* address = static_cast<const uint8_t*>(array);
  for (uint64_t i = 0; i < std::min<uint64_t>(ranges.size(), below(kBufferBits)); ++i) {
    const HostRange& range = ranges[i];
    const uint8_t* base = node.at(range, node.pe(), 0);
    if (address < base || address >= base + range.bytes) continue;
    const uint64_t offset = static_cast<uint64_t>(address - base);
    if (bytes > range.bytes - offset || offset >= below(kOffsetBits)) return place;
    place.kind = Place::kInBuffer;
    place.buffer = i;
    place.offset = offset;
    return place;
  }
  return place;
}

Place place_of(const HostNode& node, const DirectArrays::Own& own, DirectArrays::Use use) {
  Place place;
  if (!own.changes) place = place_in_heap(node, own.in, own.bytes);
  if (place.kind == Place::kInBuffer) return place;
  const bool is_fetched = !own.changes && use == DirectArrays::Use::kCopy && node.reads_processes();
  const uint64_t read_by_each = own.block_bytes == 0 ? own.bytes : own.block_bytes;
  if (own.bytes <= node.steps().slot_bytes() && read_by_each <= most_read_out_of_slot(node, is_fetched)) {
    place.kind = Place::kInSlot;
    place.changes = own.changes;
  } else if (is_fetched) {
    place.kind = Place::kInProcess;
    place.offset = reinterpret_cast<uint64_t>(own.in);
  }
  return place;
}

// Whether a PE can have shown this. It is in shared memory: nothing there is followed before it has been looked at.
bool is_possible(const HostNode& node, const Place& place, uint64_t bytes, DirectArrays::Use use) {
  switch (place.kind) {
    case Place::kOutOfReach:
      return true;
    case Place::kInBuffer: {
      const std::vector<HostRange>& ranges = node.ranges();
      if (place.buffer >= ranges.size()) return false;
      const HostRange& range = ranges[place.buffer];
      return place.offset <= range.bytes && bytes <= range.bytes - place.offset;
    }
    case Place::kInProcess:
      return use == DirectArrays::Use::kCopy && node.reads_processes() && place.offset != 0 &&
             bytes <= UINT64_MAX - place.offset;
    case Place::kInSlot:
      return bytes <= node.steps().slot_bytes();
  }
  return false;
}

[[noreturn]] void refuse_place_of(HostNode& node, int32_t pe) {
  Failure failure;
  failure.status = SPARKGAP_INTERNAL;
  failure.pe = node.node().world_pe(pe);
  Text(failure.message, sizeof failure.message)
      .add(
          "PE %d (%s) is said to have its array where none can be: something has written into the world's shared "
          "memory",
          failure.pe, node.node().label(pe).c_str());
  node.node().waiter().give_up(failure);
}

}  // namespace

DirectArrays::DirectArrays(HostNode& node, const Own& own, Use use, Readers readers, int32_t root)
    : node_(node), bytes_(own.bytes), use_(use), readers_(readers), root_(root) {
  Steps& steps = node.steps();
  steps.begin();
  if (is_read(node.pe())) {
    const Place place = place_of(node, own, use);
    steps.show(packed(place));
    if (place.kind == Place::kInSlot) put_into_slot(own);
  }
  steps.post();
  arrays_[node.pe()] = {static_cast<const uint8_t*>(own.in), true};
}

bool DirectArrays::find() {
  Steps& steps = node_.steps();
  if (readers_ != Readers::kAllOfRoot) {
    steps.wait_for_all();
  } else if (node_.pe() != root_) {
    steps.wait_for(root_);
  }
  for (int32_t pe = 0; pe < node_.pes(); ++pe) {
    if (is_read(pe)) find(pe);
  }
  // To fetch an array may fail, and then another algorithm needs all of them as they were.
  return found_all_ && !(some_change_ && crosses_processes_);
}

bool DirectArrays::is_read(int32_t pe) const {
  return readers_ == Readers::kAllOfAll || (readers_ == Readers::kAllOfRoot) == (pe == root_);
}

void DirectArrays::put_into_slot(const Own& own) {
  uint8_t* slot = node_.steps().slot(node_.pe());
  if (own.block_bytes == 0) {
    std::memcpy(slot, own.in, own.bytes);
    return;
  }
  const uint64_t before = static_cast<uint64_t>(node_.pe()) * own.block_bytes;
  const uint64_t behind = before + own.block_bytes;
  std::memcpy(slot, own.in, before);
  std::memcpy(slot + behind, advance(own.in, behind), own.bytes - behind);
}

void DirectArrays::find(int32_t pe) {
  const Place place = unpacked(node_.steps().shown(pe));
  if (!is_possible(node_, place, bytes_, use_)) refuse_place_of(node_, pe);
  if (place.kind != Place::kInSlot) all_in_slots_ = false;
  if (place.kind == Place::kOutOfReach) found_all_ = false;
  if (place.kind == Place::kInProcess) crosses_processes_ = true;
  if (place.changes) some_change_ = true;
  // Its own stays where it is: in the slot is only what others read.
  if (pe == node_.pe()) return;
  if (place.kind == Place::kInBuffer) {
    arrays_[pe] = {node_.at(node_.ranges()[place.buffer], pe, place.offset), true};
  } else if (place.kind == Place::kInSlot) {
    arrays_[pe] = {node_.steps().slot(pe), true};
  } else {
    // It may be gone at any moment, since that PE's call may fail: only the kernel can be asked for it.
    arrays_[pe] = {reinterpret_cast<const uint8_t*>(place.offset), false};
  }
}

void DirectArrays::copy(void* dst, int32_t pe, uint64_t offset, uint64_t bytes, CopyFunction copy) {
  const Array& array = arrays_[pe];
  // In pieces, between which the others hear that this PE is at work.
  for (uint64_t done = 0; done < bytes; done += kPieceBytes) {
    const uint64_t piece = std::min(kPieceBytes, bytes - done);
    uint8_t* to = static_cast<uint8_t*>(dst) + done;
    const uint8_t* from = array.address + offset + done;
    if (array.is_here) {
      copy(to, from, piece);
    } else if (read_all_) {
      read_all_ = read_process(node_.node().process(pe), from, to, piece);
    }
    if (piece == kPieceBytes) tell_progress(node_.node().control());
  }
}

bool DirectArrays::finish() {
  if (all_in_slots_) return true;
  Steps& steps = node_.steps();
  steps.begin();
  steps.show(read_all_);
  steps.post();
  if (!crosses_processes_) {
    // Only for those that read this PE's array.
    if (readers_ == Readers::kRootOfOthers) {
      if (node_.pe() != root_) steps.wait_for(root_);
    } else if (is_read(node_.pe())) {
      steps.wait_for_all();
    }
    return true;
  }
  steps.wait_for_all();
  for (int32_t pe = 0; pe < node_.pes(); ++pe) read_all_ = read_all_ && steps.shown(pe) != 0;
  if (!read_all_) node_.forgo_processes();
  return read_all_;
}

}  // namespace sparkgap
