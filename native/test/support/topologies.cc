#include "support/topologies.h"

#include "base/error.h"
#include "select/explain.h"
#include "support/check.h"

namespace sparkgap::test {
namespace {

constexpr const char* kHeading = "| world | 64 B | 16 KiB | 1 MiB | 64 MiB |\n";

void add(std::string& table, const char* route, double us) {
  char text[100] = "";
  Text(text, sizeof text).add(us < 999.5 ? "`%s` %.3g" : "`%s` %.0f", route, us);
  table += text;
}

}  // namespace

std::string topologies_table() {
  constexpr uint64_t kSizes[] = {64, 16 << 10, 1 << 20, 64 << 20};
  std::string table = std::string(kHeading) + "|---|---|---|---|---|\n";
  for (const SyntheticWorld& world : synthetic_worlds()) {
    Routes routes;
    routes.make(world.circumstances);
    table += std::string("| ") + world.name + " |";
    for (const uint64_t bytes : kSizes) {
      const Explanation found = explain(SPARKGAP_ALL_REDUCE, bytes, world.circumstances, routes, nullptr);
      table += " ";
      add(table, route_name(world.circumstances.provider, found.choice.algorithm), found.estimate.us);
      if (found.next != Algorithm::kAuto) {
        table += " (";
        add(table, algorithm_name(found.next), found.next_estimate.us);
        table += ")";
      }
      table += " |";
    }
    table += "\n";
  }
  return table;
}

std::string with_topologies_table(const std::string& page) {
  const size_t begin = page.find(kHeading);
  expect(begin != std::string::npos, "the page has no table of worlds");
  const size_t end = page.find("\n\n", begin);
  expect(end != std::string::npos, "the page ends within its table of worlds");
  return page.substr(0, begin) + topologies_table() + page.substr(end + 1);
}

}  // namespace sparkgap::test
