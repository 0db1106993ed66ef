#include "collective/direct.h"

#include <unistd.h>

#include <cstring>

#include "provider/host/peer_process.h"

namespace sparkgap {
namespace {

// Where an array lies. PEs have made the same allocations in the same order, so a buffer has the same index on all.
struct Place {
  enum Kind : int32_t { kOutOfReach = 0, kNotRead, kInBuffer, kInProcess };
  int32_t kind = kOutOfReach;
  int32_t buffer = 0;
  uint64_t offset = 0;  // in the buffer; kInProcess: address in the PE's process
};

Place place_in_heap(const World& world, const void* array, uint64_t bytes) {
  Place place;
  const auto& buffers = world.buffers();
  const uint8_t* address = static_cast<const uint8_t*>(array);
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& buffer = *buffers[i];
    if (buffer.memory == nullptr) continue;
    const uint8_t* base = buffer.memory->part(world.pe());
    if (address < base || address >= base + buffer.bytes) continue;
    const uint64_t offset = static_cast<uint64_t>(address - base);
    if (bytes > buffer.bytes - offset) return place;
    place.kind = Place::kInBuffer;
    place.buffer = static_cast<int32_t>(i);
    place.offset = offset;
    return place;
  }
  return place;
}

Place place_of(const World& world, const void* array, uint64_t bytes, DirectArrays::Use use) {
  Place place = place_in_heap(world, array, bytes);
  const bool copied = use == DirectArrays::Use::kCopy && world.reads_processes();
  if (place.kind != Place::kInBuffer && copied && array != nullptr) {
    place.kind = Place::kInProcess;
    place.offset = reinterpret_cast<uint64_t>(array);
  }
  return place;
}

// Whether a PE can have shown this. A slot is shared memory: nothing in it is followed before it has been looked at.
bool is_possible(const World& world, const Place& place, uint64_t bytes, DirectArrays::Use use) {
  switch (place.kind) {
    case Place::kOutOfReach:
    case Place::kNotRead:
      return true;
    case Place::kInBuffer: {
      const auto& buffers = world.buffers();
      if (place.buffer < 0 || static_cast<size_t>(place.buffer) >= buffers.size()) return false;
      const Buffer& buffer = *buffers[static_cast<size_t>(place.buffer)];
      return buffer.memory != nullptr && place.offset <= buffer.bytes && bytes <= buffer.bytes - place.offset;
    }
    case Place::kInProcess:
      return use == DirectArrays::Use::kCopy && world.reads_processes() && place.offset != 0 &&
             bytes <= UINT64_MAX - place.offset;
    default:
      return false;
  }
}

[[noreturn]] void refuse_place_of(World& world, int32_t pe) {
  Failure failure;
  failure.status = SPARKGAP_INTERNAL;
  failure.pe = pe;
  Text(failure.message, sizeof failure.message)
      .add(
          "PE %d (%s) is said to have its array where none can be: something has written into the world's shared "
          "memory",
          pe, world.control().record(pe).label);
  world.waiter().give_up(failure);
}

}  // namespace

DirectArrays::DirectArrays(World& world, const void* array, uint64_t bytes, Use use, Role role) : world_(world) {
  Steps& steps = world.steps();
  Place own;
  own.kind = Place::kNotRead;
  if (role == Role::kRead) own = place_of(world, array, bytes, use);
  steps.begin();
  std::memcpy(steps.slot(world.pe()), &own, sizeof own);
  steps.post();
  steps.wait_for_all();
  for (int32_t pe = 0; pe < world.pes(); ++pe) {
    Place place;
    std::memcpy(&place, steps.slot(pe), sizeof place);
    if (!is_possible(world, place, bytes, use)) refuse_place_of(world, pe);
    Array& found = arrays_[pe];
    if (place.kind == Place::kOutOfReach) usable_ = false;
    if (place.kind == Place::kInBuffer) {
      found.address = world.buffers()[static_cast<size_t>(place.buffer)]->at(pe, place.offset);
      found.is_here = true;
    }
    if (place.kind == Place::kInProcess) {
      crosses_processes_ = true;
      found.address = reinterpret_cast<const uint8_t*>(place.offset);
      found.is_here = world.control().record(pe).pid == getpid();
    }
  }
}

void DirectArrays::copy(void* dst, int32_t pe, uint64_t offset, uint64_t bytes, CopyFunction copy) {
  const Array& array = arrays_[pe];
  if (array.is_here) {
    copy(dst, array.address + offset, bytes);
  } else if (read_all_) {
    read_all_ = read_process(world_.control().record(pe).pid, array.address + offset, dst, bytes);
  }
}

bool DirectArrays::finish() {
  Steps& steps = world_.steps();
  if (!crosses_processes_) {
    steps.meet();
    return true;
  }
  steps.begin();
  *steps.slot(world_.pe()) = read_all_;
  steps.post();
  steps.wait_for_all();
  for (int32_t pe = 0; pe < world_.pes(); ++pe) read_all_ = read_all_ && *steps.slot(pe) != 0;
  if (!read_all_) world_.forgo_processes();
  return read_all_;
}

}  // namespace sparkgap
