// The C interface: checks arguments, calls the core, turns a Failure into a status and a sentence. No exception leaves.
#include "sparkgap/sparkgap.h"

#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "engine/engines.h"
#include "protocol/nodes/card.h"
#include "reduce/reduce.h"
#include "sparkgap/guarded.h"
#include "wire/wire.h"
#include "world/arguments.h"
#include "world/world.h"

namespace sparkgap {
namespace {

Streams& streams_of(sparkgap_world& world) {
  world.check_not_recording("a change of the stream, or an event,");
  Streams* streams = world.streams();
  if (streams == nullptr) {
    fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "a host world has no stream: its calls are done when they return");
  }
  return *streams;
}

Event& event_of(const World& world, sparkgap_event* event, const char* name) {
  check_pointer(event, name);
  if (event->world != &world) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%s is an event of another world", name);
  return *event->event;
}

__attribute__((always_inline)) inline sparkgap_status guarded_collective(sparkgap_world* world,
                                                                         CollectiveCall&& call) noexcept {
  return guarded_call(world, [&] {
    check_call(*world, call);
    world->collective(call);
  });
}

}  // namespace
}  // namespace sparkgap

using namespace sparkgap;

int32_t sparkgap_abi_version(void) { return SPARKGAP_ABI_VERSION; }

const char* sparkgap_version(void) {
  static const std::string version =
      std::string(SPARKGAP_VERSION " (g++ " __VERSION__ ", ") + kernel_isa() + " kernels)";
  return version.c_str();
}

sparkgap_status sparkgap_device_open(int32_t ordinal, sparkgap_device_info* info, char* message,
                                     uint64_t message_bytes) {
  return guarded_message(message, message_bytes, [&](Text&) {
    check_pointer(info, "info");
    *info = {};
    open_device(ordinal, info);
  });
}

sparkgap_status sparkgap_provider_probe(const char* provider, const char* library, char* message,
                                        uint64_t message_bytes) {
  const char* path = library == nullptr ? "" : library;
  return guarded_message(message, message_bytes, [&](Text& to) { engine_kind(provider).probe(provider, path, to); });
}

sparkgap_status sparkgap_node_key(uint8_t* key) {
  if (key != nullptr) write_node_key(key);
  return key != nullptr ? SPARKGAP_OK : SPARKGAP_INVALID_ARGUMENT;
}

sparkgap_status sparkgap_wire_probe(const char* wire, const char* address, const char* ports, const char* library,
                                    char* message, uint64_t message_bytes) {
  return guarded_message(message, message_bytes, [&](Text& to) { probe_wire(wire, address, ports, library, to); });
}

sparkgap_status sparkgap_world_create(const sparkgap_world_options* options, sparkgap_world** world) {
  if (world == nullptr) return SPARKGAP_INVALID_ARGUMENT;
  *world = new (std::nothrow) sparkgap_world();
  if (*world == nullptr) return SPARKGAP_OUT_OF_MEMORY;
  return guarded(*world, [&] {
    check_pointer(options, "options");
    (*world)->open(*options);
  });
}

sparkgap_status sparkgap_world_id(sparkgap_world* world, uint8_t* id) {
  return guarded(world, [&] {
    check_pointer(id, "id");
    world->write_id(id);
  });
}

sparkgap_status sparkgap_world_connect(sparkgap_world* world, const uint8_t* id) {
  return guarded(world, [&] {
    check_pointer(id, "id");
    world->connect(id);
  });
}

sparkgap_status sparkgap_world_card(sparkgap_world* world, uint8_t* card) {
  return guarded(world, [&] {
    check_pointer(card, "card");
    world->write_card(card);
  });
}

sparkgap_status sparkgap_world_connect_cards(sparkgap_world* world, const uint8_t* cards) {
  return guarded(world, [&] {
    check_pointer(cards, "cards");
    world->connect_cards(cards);
  });
}

sparkgap_status sparkgap_world_abort(sparkgap_world* world, const char* reason) {
  if (world == nullptr) return SPARKGAP_INVALID_ARGUMENT;
  world->abort(reason);
  return SPARKGAP_OK;
}

sparkgap_status sparkgap_world_health(sparkgap_world* world) {
  return guarded(world, [&] { world->check_usable(); });
}

uint64_t sparkgap_world_calls(const sparkgap_world* world) { return world == nullptr ? 0 : world->calls(); }

uint64_t sparkgap_world_history(const sparkgap_world* world) { return world == nullptr ? 0 : world->history(); }

int32_t sparkgap_world_counters(const sparkgap_world* world, sparkgap_counter* counters, int32_t capacity) {
  return world == nullptr ? 0 : world->counters().read(world->provider(), counters, counters == nullptr ? 0 : capacity);
}

void sparkgap_world_destroy(sparkgap_world* world) { delete world; }

const char* sparkgap_last_error(const sparkgap_world* world) {
  return world == nullptr ? "the world handle is null" : world->failure().message;
}

int32_t sparkgap_last_error_pe(const sparkgap_world* world) { return world == nullptr ? kNoPe : world->failure().pe; }

const char* sparkgap_world_describe(sparkgap_world* world) { return world == nullptr ? "no world" : world->describe(); }

int32_t sparkgap_world_memory_is_device(const sparkgap_world* world) {
  return world != nullptr && world->memory_is_device() ? 1 : 0;
}

int32_t sparkgap_world_link(const sparkgap_world* world, int32_t a, int32_t b) {
  return world == nullptr ? -1 : world->link(a, b);
}

int32_t sparkgap_world_node(const sparkgap_world* world, int32_t pe) {
  return world == nullptr ? -1 : world->node_of(pe);
}

void* sparkgap_world_stream(sparkgap_world* world) {
  return world == nullptr || world->streams() == nullptr ? nullptr : world->streams()->stream();
}

sparkgap_status sparkgap_world_set_stream(sparkgap_world* world, void* cuda_stream) {
  return guarded_call(world, [&] { streams_of(*world).set_stream(cuda_stream); });
}

sparkgap_status sparkgap_event_create(sparkgap_world* world, sparkgap_event** event) {
  return guarded_call(world, [&] {
    check_pointer(event, "event");
    *event = nullptr;
    auto made = std::make_unique<sparkgap_event>();
    made->world = world;
    made->event.reset(streams_of(*world).make_event());
    *event = made.release();
  });
}

sparkgap_status sparkgap_event_record(sparkgap_world* world, sparkgap_event* event) {
  return guarded_call(world, [&] { streams_of(*world).record(event_of(*world, event, "event")); });
}

sparkgap_status sparkgap_event_wait(sparkgap_world* world, sparkgap_event* event) {
  return guarded_call(world, [&] { streams_of(*world).enqueue_wait(event_of(*world, event, "event")); });
}

sparkgap_status sparkgap_event_synchronize(sparkgap_world* world, sparkgap_event* event) {
  return guarded_call(world, [&] { streams_of(*world).wait(event_of(*world, event, "event")); });
}

sparkgap_status sparkgap_event_elapsed_us(sparkgap_world* world, sparkgap_event* start, sparkgap_event* end,
                                          double* microseconds) {
  return guarded_call(world, [&] {
    check_pointer(microseconds, "microseconds");
    Event& first = event_of(*world, start, "start");
    *microseconds = streams_of(*world).elapsed_us(first, event_of(*world, end, "end"));
  });
}

void sparkgap_event_destroy(sparkgap_event* event) { delete event; }

sparkgap_status sparkgap_allocate(sparkgap_world* world, uint64_t bytes, sparkgap_buffer** buffer) {
  return guarded_call(world, [&] {
    check_pointer(buffer, "buffer");
    *buffer = nullptr;
    world->check_not_recording("allocate");
    check_allocation(*world, bytes);
    *buffer = world->allocate(bytes);
  });
}

sparkgap_status sparkgap_free(sparkgap_world* world, sparkgap_buffer* buffer) {
  return guarded(world, [&] {
    check_pointer(buffer, "buffer");
    world->check_not_recording("free");
    world->free(buffer);
  });
}

void* sparkgap_buffer_address(const sparkgap_buffer* buffer) {
  return buffer == nullptr ? nullptr : sparkgap_buffer_peer_address(buffer, buffer->world->pe());
}

uint64_t sparkgap_buffer_bytes(const sparkgap_buffer* buffer) { return buffer == nullptr ? 0 : buffer->bytes; }

void* sparkgap_buffer_peer_address(const sparkgap_buffer* buffer, int32_t pe) {
  if (buffer == nullptr || buffer->memory == nullptr || pe < 0 || pe >= buffer->world->pes()) return nullptr;
  return buffer->memory->part(pe);
}

sparkgap_status sparkgap_put(sparkgap_world* world, sparkgap_buffer* dst, uint64_t dst_offset, const void* src,
                             uint64_t bytes, int32_t pe) {
  return guarded_call(world, [&] {
    check_put(*world, dst, dst_offset, src, bytes, pe);
    world->one_sided(put_call(dst->memory.get(), dst_offset, src, bytes, pe));
  });
}

sparkgap_status sparkgap_get(sparkgap_world* world, void* dst, sparkgap_buffer* src, uint64_t src_offset,
                             uint64_t bytes, int32_t pe) {
  return guarded_call(world, [&] {
    check_pe(*world, pe, "pe");
    check_in_buffer(*world, src, src_offset, bytes, "src");
    if (bytes > 0) check_pointer(dst, "dst");
    world->one_sided(get_call(dst, src->memory.get(), src_offset, bytes, pe));
  });
}

sparkgap_status sparkgap_put_signal(sparkgap_world* world, sparkgap_buffer* dst, uint64_t dst_offset, const void* src,
                                    uint64_t bytes, sparkgap_buffer* signal, uint64_t signal_offset, int64_t value,
                                    int32_t signal_op, int32_t pe) {
  return guarded_call(world, [&] {
    check_put(*world, dst, dst_offset, src, bytes, pe);
    check_word(*world, signal, signal_offset, "signal");
    check_signal_op(signal_op);
    const OneSidedCall put = put_call(dst->memory.get(), dst_offset, src, bytes, pe);
    world->one_sided(put_signal_call(put, signal_call(signal->memory.get(), signal_offset, value, signal_op, pe)));
  });
}

sparkgap_status sparkgap_signal(sparkgap_world* world, sparkgap_buffer* signal, uint64_t signal_offset, int64_t value,
                                int32_t signal_op, int32_t pe) {
  return guarded_call(world, [&] {
    check_pe(*world, pe, "pe");
    check_word(*world, signal, signal_offset, "signal");
    check_signal_op(signal_op);
    world->one_sided(signal_call(signal->memory.get(), signal_offset, value, signal_op, pe));
  });
}

sparkgap_status sparkgap_wait_signal(sparkgap_world* world, sparkgap_buffer* signal, uint64_t signal_offset,
                                     int32_t comparison, int64_t value, int64_t* observed) {
  return guarded_call(world, [&] {
    check_word(*world, signal, signal_offset, "signal");
    check_comparison(comparison);
    world->one_sided(wait_signal_call(signal->memory.get(), signal_offset, comparison, value, observed));
  });
}

sparkgap_status sparkgap_fetch_add(sparkgap_world* world, sparkgap_buffer* target, uint64_t offset, int64_t delta,
                                   int32_t pe, int64_t* before) {
  return guarded_call(world, [&] {
    check_pe(*world, pe, "pe");
    check_word(*world, target, offset, "target");
    world->one_sided(fetch_add_call(target->memory.get(), offset, delta, pe, before));
  });
}

sparkgap_status sparkgap_all_reduce(sparkgap_world* world, const void* in, void* out, uint64_t count, int32_t type,
                                    int32_t op) {
  return guarded_collective(world, make_call(SPARKGAP_ALL_REDUCE, in, out, count, type, op));
}

sparkgap_status sparkgap_reduce_scatter(sparkgap_world* world, const void* in, void* out, uint64_t count_per_pe,
                                        int32_t type, int32_t op) {
  return guarded_collective(world, make_call(SPARKGAP_REDUCE_SCATTER, in, out, count_per_pe, type, op));
}

sparkgap_status sparkgap_all_gather(sparkgap_world* world, const void* in, void* out, uint64_t count_per_pe,
                                    int32_t type) {
  return guarded_collective(world, make_call(SPARKGAP_ALL_GATHER, in, out, count_per_pe, type));
}

sparkgap_status sparkgap_broadcast(sparkgap_world* world, const void* in, void* out, uint64_t count, int32_t type,
                                   int32_t root) {
  return guarded_collective(world, make_call(SPARKGAP_BROADCAST, in, out, count, type, 0, root));
}

sparkgap_status sparkgap_reduce(sparkgap_world* world, const void* in, void* out, uint64_t count, int32_t type,
                                int32_t op, int32_t root) {
  return guarded_collective(world, make_call(SPARKGAP_REDUCE, in, out, count, type, op, root));
}

sparkgap_status sparkgap_all_to_all(sparkgap_world* world, const void* in, void* out, uint64_t count_per_pe,
                                    int32_t type) {
  return guarded_collective(world, make_call(SPARKGAP_ALL_TO_ALL, in, out, count_per_pe, type));
}

sparkgap_status sparkgap_all_to_allv(sparkgap_world* world, const void* in, const uint64_t* send_counts,
                                     const uint64_t* send_offsets, void* out, const uint64_t* receive_counts,
                                     const uint64_t* receive_offsets, int32_t type) {
  CollectiveCall call = make_call(SPARKGAP_ALL_TO_ALLV, in, out, 0, type);
  call.send_counts = send_counts;
  call.send_offsets = send_offsets;
  call.receive_counts = receive_counts;
  call.receive_offsets = receive_offsets;
  return guarded_collective(world, std::move(call));
}

sparkgap_status sparkgap_barrier(sparkgap_world* world) {
  return guarded_collective(world, make_call(SPARKGAP_BARRIER, nullptr, nullptr, 0, 0));
}

sparkgap_status sparkgap_world_finish(sparkgap_world* world) {
  return guarded_call(world, [&] {
    world->check_not_recording("finish");
    world->finish();
  });
}

sparkgap_status sparkgap_synchronize(sparkgap_world* world) {
  return guarded_call(world, [&] {
    world->check_not_recording("synchronize");
    const Counting counting = world->count(SPARKGAP_SYNCHRONIZE, 0);
    world->engine().synchronize();
  });
}
