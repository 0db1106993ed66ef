#include "collective/direct.h"

#include <algorithm>
#include <cstring>

#include "provider/host/peer_process.h"

namespace sparkgap {
namespace {

constexpr uint64_t kPieceBytes = 16 << 20;

// Up to here an array that the others cannot address goes into the slot, behind its place: less where it can be fetched
// out of the PE's process, which costs 2 us for the call alone.
constexpr uint64_t kMostBytesInSlot = 32 << 10;
constexpr uint64_t kMostBytesInSlotWhereFetched = 8 << 10;
constexpr uint64_t kArrayInSlot = 64;

// Where an array lies. PEs have made the same allocations in the same order, so a buffer has the same index on all.
struct Place {
  enum Kind : int32_t { kOutOfReach = 0, kNotRead, kInBuffer, kInProcess, kInSlot };
  int32_t kind = kOutOfReach;
  int32_t buffer = 0;
  uint64_t offset = 0;  // in the buffer; kInProcess: address in the PE's process
};

Place place_in_heap(const HostNode& node, const void* array, uint64_t bytes) {
  Place place;
  const std::vector<HostRange>& ranges = node.ranges();
  const uint8_t* address = static_cast<const uint8_t*>(array);
  for (size_t i = 0; i < ranges.size(); ++i) {
    const HostRange& range = ranges[i];
    const uint8_t* base = node.at(range, node.pe(), 0);
    if (address < base || address >= base + range.bytes) continue;
    const uint64_t offset = static_cast<uint64_t>(address - base);
    if (bytes > range.bytes - offset) return place;
    place.kind = Place::kInBuffer;
    place.buffer = static_cast<int32_t>(i);
    place.offset = offset;
    return place;
  }
  return place;
}

bool fits_in_slot(HostNode& node, uint64_t bytes, bool is_fetched) {
  const uint64_t most = is_fetched ? kMostBytesInSlotWhereFetched : kMostBytesInSlot;
  return bytes <= std::min(most, node.steps().slot_bytes() - kArrayInSlot);
}

Place place_of(HostNode& node, const void* array, uint64_t bytes, DirectArrays::Use use) {
  Place place = place_in_heap(node, array, bytes);
  if (place.kind == Place::kInBuffer || array == nullptr) return place;
  const bool is_fetched = use == DirectArrays::Use::kCopy && node.reads_processes();
  if (fits_in_slot(node, bytes, is_fetched)) {
    place.kind = Place::kInSlot;
  } else if (is_fetched) {
    place.kind = Place::kInProcess;
    place.offset = reinterpret_cast<uint64_t>(array);
  }
  return place;
}

// Whether a PE can have shown this. A slot is shared memory: nothing in it is followed before it has been looked at.
bool is_possible(HostNode& node, const Place& place, uint64_t bytes, DirectArrays::Use use) {
  switch (place.kind) {
    case Place::kOutOfReach:
    case Place::kNotRead:
      return true;
    case Place::kInBuffer: {
      const std::vector<HostRange>& ranges = node.ranges();
      if (place.buffer < 0 || static_cast<size_t>(place.buffer) >= ranges.size()) return false;
      const HostRange& range = ranges[static_cast<size_t>(place.buffer)];
      return place.offset <= range.bytes && bytes <= range.bytes - place.offset;
    }
    case Place::kInProcess:
      return use == DirectArrays::Use::kCopy && node.reads_processes() && place.offset != 0 &&
             bytes <= UINT64_MAX - place.offset;
    case Place::kInSlot:
      return fits_in_slot(node, bytes, use == DirectArrays::Use::kCopy && node.reads_processes());
    default:
      return false;
  }
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

DirectArrays::DirectArrays(HostNode& node, const void* array, uint64_t bytes, Use use, Role role) : node_(node) {
  Steps& steps = node.steps();
  Place own;
  own.kind = Place::kNotRead;
  if (role == Role::kRead) own = place_of(node, array, bytes, use);
  steps.begin();
  std::memcpy(steps.slot(node.pe()), &own, sizeof own);
  if (own.kind == Place::kInSlot) std::memcpy(steps.slot(node.pe()) + kArrayInSlot, array, bytes);
  steps.post();
  steps.wait_for_all();
  for (int32_t pe = 0; pe < node.pes(); ++pe) {
    Place place;
    std::memcpy(&place, steps.slot(pe), sizeof place);
    if (!is_possible(node, place, bytes, use)) refuse_place_of(node, pe);
    Array& found = arrays_[pe];
    if (place.kind == Place::kOutOfReach) usable_ = false;
    if (place.kind == Place::kInBuffer) {
      found.address = node.at(node.ranges()[static_cast<size_t>(place.buffer)], pe, place.offset);
      found.is_here = true;
    }
    if (place.kind == Place::kInSlot) {
      found.address = steps.slot(pe) + kArrayInSlot;
      found.is_here = true;
    }
    if (place.kind == Place::kInProcess) {
      crosses_processes_ = true;
      found.address = reinterpret_cast<const uint8_t*>(place.offset);
      // Of another PE it may be gone at any moment, since that one's call may fail: only the kernel can be asked for
      // it.
      found.is_here = pe == node.pe();
    }
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
  Steps& steps = node_.steps();
  if (!crosses_processes_) {
    steps.meet();
    return true;
  }
  steps.begin();
  *steps.slot(node_.pe()) = read_all_;
  steps.post();
  steps.wait_for_all();
  for (int32_t pe = 0; pe < node_.pes(); ++pe) read_all_ = read_all_ && *steps.slot(pe) != 0;
  if (!read_all_) node_.forgo_processes();
  return read_all_;
}

}  // namespace sparkgap
