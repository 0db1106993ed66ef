// The C functions of routes and tuning tables.
#include "sparkgap/guarded.h"
#include "world/arguments.h"
#include "world/world.h"

using namespace sparkgap;

sparkgap_status sparkgap_world_set_tables(sparkgap_world* world, const sparkgap_tuning_table* tables, int32_t count) {
  return guarded(world, [&] {
    if (count < 0) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "count is %d, but must be 0 or more", count);
    if (count > 0) check_pointer(tables, "tables");
    world->set_tables(tables, count);
  });
}

sparkgap_status sparkgap_world_set_deterministic(sparkgap_world* world, int32_t on) {
  return guarded(world, [&] { world->set_deterministic(on != 0); });
}

sparkgap_status sparkgap_world_set_topology(sparkgap_world* world, const char* hints) {
  return guarded(world, [&] { world->set_hints(hints); });
}

const char* sparkgap_world_tables_told(sparkgap_world* world) {
  return world == nullptr ? "" : world->tables().told().c_str();
}

sparkgap_status sparkgap_world_key(sparkgap_world* world, sparkgap_tuning_table* key) {
  return guarded_call(world, [&] {
    check_pointer(key, "key");
    const TuningTable& found = world->key();
    *key = {};
    key->name = found.name.c_str();
    key->provider = found.provider.c_str();
    key->device = found.device.c_str();
    key->nvshmem = found.nvshmem.c_str();
    key->nccl = found.nccl.c_str();
    key->link = found.link;
    key->pes_from = found.pes[0];
    key->pes_to = found.pes[1];
    key->nodes_from = found.nodes[0];
    key->nodes_to = found.nodes[1];
    key->lanes_from = found.lanes[0];
    key->lanes_to = found.lanes[1];
    key->shared = found.shared ? 1 : 0;
  });
}

namespace {

// What a collective of that many elements is selected by.
uint64_t selected_bytes(int32_t collective, uint64_t count, int32_t type) {
  check_collective(collective);
  if (!kCollectives[collective].has_type) return 0;
  check_type(type);
  return kCollectives[collective].has_count ? checked_bytes(count, type) : 0;
}

}  // namespace

const char* sparkgap_route(sparkgap_world* world, int32_t collective, uint64_t count, int32_t type) {
  const char* route = "";
  guarded(world, [&] {
    const uint64_t bytes = selected_bytes(collective, count, type);
    route = route_name(world->provider(), world->algorithm_for(collective, bytes));
  });
  return route;
}

sparkgap_status sparkgap_explain(sparkgap_world* world, int32_t collective, uint64_t count, int32_t type,
                                 sparkgap_explanation* explanation) {
  return guarded_call(world, [&] {
    check_pointer(explanation, "explanation");
    *explanation = {};
    const uint64_t bytes = selected_bytes(collective, count, type);
    const Explanation found = world->explain(collective, bytes);
    const TuningTable* table = world->tables().table();
    explanation->route = route_name(world->provider(), found.choice.algorithm);
    explanation->table = table == nullptr ? "" : table->name.c_str();
    explanation->reason = static_cast<int32_t>(found.choice.reason);
    explanation->measured = found.estimate.measured ? 1 : 0;
    explanation->microseconds = found.estimate.us;
    explanation->next_route = route_name(world->provider(), found.next);
    explanation->next_measured = found.next_estimate.measured ? 1 : 0;
    explanation->next_microseconds = found.next_estimate.us;
  });
}

sparkgap_status sparkgap_world_set_algorithm(sparkgap_world* world, int32_t collective, const char* algorithm) {
  return guarded(world, [&] {
    check_collective(collective);
    Algorithm found = Algorithm::kAuto;
    if (algorithm != nullptr && !find_route(collective, algorithm, world->provider(), &found)) {
      fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "%s has no algorithm \"%s\" in a world of %s; it has: auto, %s",
           kCollectives[collective].name, algorithm, kProviderNames[static_cast<int32_t>(world->provider())],
           algorithm_names(collective, world->provider()));
    }
    world->check_deterministic(collective, found);
    world->hold_to(collective, found);
  });
}

const char* sparkgap_algorithms(sparkgap_world* world, int32_t collective) {
  const char* names = "";
  guarded(world, [&] {
    check_collective(collective);
    names = algorithm_names(collective, world->provider());
  });
  return names;
}
