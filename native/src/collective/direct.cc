#include "collective/direct.h"

#include <cstring>

namespace sparkgap {
namespace {

// Where an array lies. PEs have made the same allocations in the same order, so a buffer has the same index on all.
struct Place {
  enum Kind : int32_t { kElsewhere = 0, kInBuffer = 1, kNotRead = 2 };
  int32_t kind = kElsewhere;
  int32_t buffer = 0;
  uint64_t offset = 0;
};

Place place_of(const World& world, const void* array, uint64_t bytes) {
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

}  // namespace

DirectArrays::DirectArrays(World& world, const void* array, uint64_t bytes, Role role) {
  Steps& steps = world.steps();
  Place own;
  if (role == Role::kNotRead) {
    own.kind = Place::kNotRead;
  } else {
    own = place_of(world, array, bytes);
  }
  steps.begin();
  std::memcpy(steps.slot(world.pe()), &own, sizeof own);
  steps.post();
  steps.wait_for_all();
  for (int32_t pe = 0; pe < world.pes(); ++pe) {
    Place place;
    std::memcpy(&place, steps.slot(pe), sizeof place);
    usable_ = usable_ && place.kind != Place::kElsewhere;
    arrays_[pe] = place.kind == Place::kInBuffer
                      ? world.buffers()[static_cast<size_t>(place.buffer)]->at(pe, place.offset)
                      : nullptr;
  }
}

}  // namespace sparkgap
