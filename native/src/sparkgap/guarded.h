// How the body of a C function runs: no exception leaves.
#ifndef SPARKGAP_SPARKGAP_GUARDED_H
#define SPARKGAP_SPARKGAP_GUARDED_H

#include <exception>

#include "base/error.h"
#include "sparkgap/sparkgap.h"
#include "world/world.h"

struct sparkgap_world : sparkgap::World {};

namespace sparkgap {

// Runs the body of a C function. Inlined, with what the body knows at compile time: the smallest calls show it.
template <class Body>
__attribute__((always_inline)) inline sparkgap_status guarded(sparkgap_world* world, const Body& body) noexcept {
  if (__builtin_expect(world == nullptr, 0)) return SPARKGAP_INVALID_ARGUMENT;
  try {
    body();
    return SPARKGAP_OK;
  } catch (const Failure& failure) {
    world->record(failure);
    return failure.status;
  } catch (const std::exception& exception) {
    Failure failure;
    failure.status = SPARKGAP_INTERNAL;
    Text(failure.message, sizeof failure.message).add("unexpected: %s", exception.what());
    world->record(failure);
    return failure.status;
  }
}

// As guarded, for what needs a connected and healthy world.
template <class Body>
__attribute__((always_inline)) inline sparkgap_status guarded_call(sparkgap_world* world, const Body& body) noexcept {
  return guarded(world, [&] {
    world->check_usable();
    body();
  });
}

// Runs the body of a C function that has no world to keep its sentence: what was found, or what is wrong.
template <class Body>
sparkgap_status guarded_message(char* message, uint64_t message_bytes, const Body& body) noexcept {
  Failure failure;
  try {
    Text found(failure.message, sizeof failure.message);
    body(found);
  } catch (const Failure& thrown) {
    failure = thrown;
  } catch (const std::exception& exception) {
    failure.status = SPARKGAP_INTERNAL;
    Text(failure.message, sizeof failure.message).add("unexpected: %s", exception.what());
  }
  if (message != nullptr && message_bytes > 0) Text(message, message_bytes).add("%s", failure.message);
  return failure.status;
}

}  // namespace sparkgap

#endif  // SPARKGAP_SPARKGAP_GUARDED_H
