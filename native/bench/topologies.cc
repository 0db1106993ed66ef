// Which route an allReduce would take in worlds that are not here, and what it would take by the cost model: the table
// of docs/topologies.md, as Markdown.
#include "support/topologies.h"

#include <cstdio>

#include "select/explain.h"

namespace {

void print(const char* route, double us) { std::printf(us < 999.5 ? "`%s` %.3g" : "`%s` %.0f", route, us); }

}  // namespace

int main() {
  using namespace sparkgap;
  constexpr uint64_t kSizes[] = {64, 16 << 10, 1 << 20, 64 << 20};
  std::printf("| world | 64 B | 16 KiB | 1 MiB | 64 MiB |\n|---|---|---|---|---|\n");
  for (const test::SyntheticWorld& world : test::synthetic_worlds()) {
    Routes routes;
    routes.make(world.circumstances);
    std::printf("| %s |", world.name);
    for (const uint64_t bytes : kSizes) {
      const Explanation found = explain(SPARKGAP_ALL_REDUCE, bytes, world.circumstances, routes, nullptr);
      std::printf(" ");
      print(route_name(world.circumstances.provider, found.choice.algorithm), found.estimate.us);
      if (found.next != Algorithm::kAuto) {
        std::printf(" (");
        print(algorithm_name(found.next), found.next_estimate.us);
        std::printf(")");
      }
      std::printf(" |");
    }
    std::printf("\n");
  }
  return 0;
}
