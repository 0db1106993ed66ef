#include "provider/host/control_groups.h"

#include <fstream>

namespace sparkgap {

void for_each_control_group(const std::string& root, const std::string& controller,
                            const std::function<void(const std::string& folder, int version)>& look) {
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // "number:controllers:path"; version 2 names no controllers.
    const size_t controllers = line.find(':') + 1;
    const size_t end = line.find(':', controllers);
    if (controllers == 0 || end == std::string::npos) continue;
    const std::string names = "," + line.substr(controllers, end - controllers) + ",";
    const bool is_version_2 = names == ",,";
    if (!is_version_2 && names.find("," + controller + ",") == std::string::npos) continue;
    const std::string top = is_version_2 ? mount : mount + "/" + controller;
    for (std::string path = line.substr(end + 1);;) {
      look(top + path, is_version_2 ? 2 : 1);
      if (path.empty()) break;
      const size_t parent = path.rfind('/');
      path.resize(parent == std::string::npos ? 0 : parent);
    }
  }
}

}  // namespace sparkgap
