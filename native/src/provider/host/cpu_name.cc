#include "provider/host/cpu_name.h"

#include <fstream>

namespace sparkgap {
namespace {

std::string read_cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 10, "model name") != 0) continue;
    const size_t colon = line.find(": ");
    return colon == std::string::npos ? "" : line.substr(colon + 2);
  }
  return "";
}

}  // namespace

const std::string& cpu_name() {
  static const std::string name = read_cpu_name();
  return name;
}

}  // namespace sparkgap
