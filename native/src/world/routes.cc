// How a world comes to its routes: what it knows of itself, its tuning table, what it is held to.
#include <algorithm>

#include "provider/host/cpu_name.h"
#include "world/world.h"

namespace sparkgap {

// NVLink is better than PCI Express, and that than a network; PEs that share memory are no link.
void World::learn_links() {
  constexpr int32_t kOrder[] = {SPARKGAP_LINK_SHM, SPARKGAP_LINK_NVLINK, SPARKGAP_LINK_PCIE, SPARKGAP_LINK_RDMA,
                                SPARKGAP_LINK_TCP};
  size_t slowest = 0;
  for (int32_t a = 0; a < options_.pes; ++a) {
    for (int32_t b = 0; b < a; ++b) {
      const int32_t link = engine_->link(a, b);
      while (std::find(kOrder, kOrder + slowest + 1, link) == kOrder + slowest + 1 && slowest < 4) ++slowest;
    }
  }
  circumstances_.slowest_link = kOrder[slowest];
}

// In host memory; PEs of several nodes may have several CPUs.
void World::learn_device() {
  if (circumstances_.provider != ProviderKind::kHost || circumstances_.device[0] != '\0') return;
  Text(circumstances_.device, sizeof circumstances_.device).add("%s", cpu_name().c_str());
}

const TuningTable& World::key() {
  if (!key_) {
    learn_device();
    believe_hints();
    key_ = key_of(believed_);
  }
  return *key_;
}

void World::set_deterministic(bool on) {
  check_created();
  if (control_) fail(SPARKGAP_INVALID_ARGUMENT, options_.pe, "deterministic is said before a world is connected");
  options_.deterministic = on;
  circumstances_.deterministic = on;
  make_routes();
}

void World::check_deterministic(int32_t collective, Algorithm algorithm) const {
  if (!options_.deterministic || gives_same_bits(collective, algorithm)) return;
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe,
       "%s cannot be held to %s: it may give other bits in another run (spark.sparkgap.deterministic)",
       kCollectives[collective].name, route_name(circumstances_.provider, algorithm));
}

// All PEs come to the same.
void World::check_routes() const {
  for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
    if (routes_.choose(collective, 0) != Algorithm::kAuto) continue;
    fail(SPARKGAP_UNAVAILABLE, kNoPe,
         "%s has no route in this world that gives the same bits in every run (spark.sparkgap.deterministic=true): "
         "between GPUs that do not reach each other's memory only NCCL reduces, in an order of its own. Use "
         "spark.sparkgap.provider=host, or GPUs of one node that are peers, or leave the setting out",
         kCollectives[collective].name);
  }
}

void World::set_tables(const sparkgap_tuning_table* tables, int32_t count) {
  check_created();
  if (control_) fail(SPARKGAP_INVALID_ARGUMENT, options_.pe, "tuning tables are given before a world is connected");
  tables_.give(tables, count);
  options_.tables = tables_.digest();
}

void World::set_hints(const char* text) {
  check_created();
  if (control_) fail(SPARKGAP_INVALID_ARGUMENT, options_.pe, "hints are given before a world is connected");
  hints_ = parse_hints(text, circumstances_.provider == ProviderKind::kNodes ? ProviderKind::kHost : provider(),
                       options_.node_pes != options_.pes);
  options_.hints = hints_.digest;
  make_routes();
}

void World::believe_hints() {
  believed_ = circumstances_;
  hints_.apply(&believed_);
}

void World::make_routes() {
  believe_hints();
  for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
    routes_.make(collective, believed_, tables_.rows_of(collective), held_[collective]);
  }
}

void World::hold_to(int32_t collective, Algorithm algorithm) {
  held_[collective] = algorithm;
  routes_.make(collective, believed_, tables_.rows_of(collective), algorithm);
  if (algorithm != Algorithm::kDefault || !connected_) return;
  open_beside();
  await_beside();
}

// NCCL beside NVSHMEM, where some call goes by it: as the table says or because it is held to it. All PEs come to the
// same.
void World::open_beside() {
  if (circumstances_.provider != ProviderKind::kNvshmem || circumstances_.nccl_beside) return;
  circumstances_.nccl_beside = true;
  make_routes();
  if (routes_.takes(Algorithm::kDefault)) {
    engine_->open_beside();
    awaits_beside_ = true;
  } else {
    circumstances_.nccl_beside = false;
    make_routes();
  }
}

void World::await_beside() {
  if (!awaits_beside_) return;
  circumstances_.nccl_beside = engine_->await_beside();
  awaits_beside_ = false;
  if (!circumstances_.nccl_beside) make_routes();
}

}  // namespace sparkgap
