// Versions of libraries, as one number: major * 10000 + minor * 100 + patch.
#ifndef SPARKGAP_BASE_VERSION_H
#define SPARKGAP_BASE_VERSION_H

#include <cstdint>
#include <string>

namespace sparkgap {

// "2.28.9".
inline std::string version_text(int32_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace sparkgap

#endif  // SPARKGAP_BASE_VERSION_H
