// What would be chosen in worlds that are not here: something that can carry the message, and about the best that the
// cost model knows.
#include "support/topologies.h"

#include <cmath>
#include <fstream>
#include <sstream>

#include "select/cost.h"
#include "select/explain.h"
#include "support/check.h"

namespace sparkgap::test {
namespace {

// What a route may take more than the best, where nothing was measured.
constexpr double kMostLoss = 1.25;

template <class Use>
void for_each_size(const Use& use) {
  for (uint64_t bytes = 64; bytes <= 64 << 20; bytes *= 2) {
    use(bytes);
    use(bytes + bytes / 2);
  }
}

Routes routes_of(const Circumstances& world) {
  Routes routes;
  routes.make(world);
  return routes;
}

void every_world_has_a_route_that_carries_the_message_and_a_time_for_it() {
  for (const SyntheticWorld& world : synthetic_worlds()) {
    const Routes routes = routes_of(world.circumstances);
    for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
      for_each_size([&](uint64_t bytes) {
        const Explanation found = explain(collective, bytes, world.circumstances, routes, nullptr);
        expect(can_carry(found.choice.algorithm, bytes, world.circumstances), "%s, collective %d, %lu bytes: %s",
               world.name, collective, bytes, algorithm_name(found.choice.algorithm));
        expect(std::isfinite(found.estimate.us) && found.estimate.us > 0, "%s, collective %d, %lu bytes: %g us",
               world.name, collective, bytes, found.estimate.us);
      });
    }
  }
}

void more_bytes_take_no_less_time() {
  for (const SyntheticWorld& world : synthetic_worlds()) {
    for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
      for (int32_t number = 1; number < kAlgorithms; ++number) {
        const Algorithm algorithm = static_cast<Algorithm>(number);
        if (!has_algorithm(world.circumstances.provider, collective, algorithm)) continue;
        double before = 0;
        for_each_size([&](uint64_t bytes) {
          const double us = estimate_us(collective, algorithm, bytes, world.circumstances);
          expect(us >= before, "%s, collective %d by %s, %lu bytes: %g us, after %g", world.name, collective,
                 algorithm_name(algorithm), bytes, us, before);
          before = us;
        });
      }
    }
  }
}

void what_is_chosen_is_about_the_best_that_the_model_knows() {
  for (const SyntheticWorld& world : synthetic_worlds()) {
    // The rules of host memory were measured, in a node and between two: there they know better than the model.
    const ProviderKind provider = world.circumstances.provider;
    if (provider == ProviderKind::kHost || provider == ProviderKind::kNodes) continue;
    const Routes routes = routes_of(world.circumstances);
    for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
      for_each_size([&](uint64_t bytes) {
        const Explanation found = explain(collective, bytes, world.circumstances, routes, nullptr);
        if (found.next == Algorithm::kAuto) return;
        expect(found.estimate.us <= kMostLoss * found.next_estimate.us,
               "%s, %s of %lu bytes: %s takes %.3g us, but %s %.3g us", world.name, kCollectives[collective].name,
               bytes, algorithm_name(found.choice.algorithm), found.estimate.us, algorithm_name(found.next),
               found.next_estimate.us);
      });
    }
  }
}

void the_page_has_what_the_selector_takes() {
  std::stringstream page;
  page << std::ifstream(SPARKGAP_TOPOLOGIES).rdbuf();
  expect(page.str() == with_topologies_table(page.str()),
         "%s is stale; it says itself how it is written again. Its table would be:\n%s", SPARKGAP_TOPOLOGIES,
         topologies_table().c_str());
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(argc, argv,
                   {{"every_world_has_a_route_that_carries_the_message_and_a_time_for_it",
                     every_world_has_a_route_that_carries_the_message_and_a_time_for_it},
                    {"the_page_has_what_the_selector_takes", the_page_has_what_the_selector_takes},
                    {"more_bytes_take_no_less_time", more_bytes_take_no_less_time},
                    {"what_is_chosen_is_about_the_best_that_the_model_knows",
                     what_is_chosen_is_about_the_best_that_the_model_knows}});
}
