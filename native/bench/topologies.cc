// Writes the table of docs/topologies.md anew, into the page that it is given.
#include "support/topologies.h"

#include <cstdio>
#include <fstream>
#include <sstream>

int main(int argc, char** argv) {
  std::stringstream page;
  if (argc != 2 || !(page << std::ifstream(argv[1]).rdbuf())) {
    std::fprintf(stderr, "usage: topologies docs/topologies.md\n");
    return 2;
  }
  std::ofstream(argv[1]) << sparkgap::test::with_topologies_table(page.str());
  return 0;
}
