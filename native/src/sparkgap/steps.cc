// The C functions of steps.
#include "sparkgap/guarded.h"
#include "world/arguments.h"
#include "world/world.h"

using namespace sparkgap;

sparkgap_status sparkgap_step_begin(sparkgap_world* world) {
  return guarded_call(world, [&] { world->begin_step(); });
}

sparkgap_status sparkgap_step_end(sparkgap_world* world, sparkgap_step** step) {
  return guarded(world, [&] {
    check_pointer(step, "step");
    *step = nullptr;
    *step = world->end_step();
  });
}

sparkgap_status sparkgap_step_drop(sparkgap_world* world) {
  return guarded(world, [&] { world->drop_step(); });
}

sparkgap_status sparkgap_step_run(sparkgap_world* world, sparkgap_step* step) {
  return guarded_call(world, [&] {
    check_pointer(step, "step");
    if (step->world != world) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "step is a step of another world");
    world->run_step(*step);
  });
}

int32_t sparkgap_step_number(const sparkgap_step* step) { return step == nullptr ? 0 : step->number; }

int32_t sparkgap_step_calls(const sparkgap_step* step) { return step == nullptr ? 0 : step->count(); }

sparkgap_status sparkgap_step_destroy(sparkgap_world* world, sparkgap_step* step) {
  return guarded(world, [&] {
    check_pointer(step, "step");
    world->free_step(step);
  });
}
