// The C functions that give kernels of the caller's what they need.
#include "sparkgap/guarded.h"
#include "world/arguments.h"
#include "world/world.h"

using namespace sparkgap;

static_assert(sizeof(sparkgap_device_world) == SPARKGAP_DEVICE_WORLD_BYTES, "said in sparkgap.h");
static_assert(sizeof(sparkgap_device_buffer) == SPARKGAP_DEVICE_BUFFER_BYTES, "said in sparkgap.h");

sparkgap_status sparkgap_world_device(sparkgap_world* world, sparkgap_device_world* device_world) {
  return guarded_call(world, [&] {
    check_pointer(device_world, "device_world");
    *device_world = world->engine().device_world();
    // Of a step that is being recorded, which a kernel of the caller's is no call of.
    device_world->place = {};
  });
}

sparkgap_status sparkgap_buffer_device(sparkgap_world* world, sparkgap_buffer* buffer,
                                       sparkgap_device_buffer* device_buffer) {
  return guarded_call(world, [&] {
    check_in_buffer(*world, buffer, 0, 0, "buffer");
    check_pointer(device_buffer, "device_buffer");
    static_cast<void>(world->engine().device_world());
    *device_buffer = {};
    device_buffer->bytes = buffer->bytes;
    for (int32_t pe = 0; pe < world->pes() && buffer->memory != nullptr; ++pe) {
      device_buffer->parts[pe] = buffer->memory->part(pe);
    }
  });
}
