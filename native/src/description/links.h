// The links that PEs reach each other by, SPARKGAP_LINK_...: the names that users and tuning tables give to them.
#ifndef SPARKGAP_DESCRIPTION_LINKS_H
#define SPARKGAP_DESCRIPTION_LINKS_H

#include <cstdint>

namespace sparkgap {

inline constexpr const char* kLinkNames[] = {"shm", "nvlink", "pcie", "tcp", "rdma"};
constexpr int32_t kLinks = sizeof kLinkNames / sizeof kLinkNames[0];

}  // namespace sparkgap

#endif  // SPARKGAP_DESCRIPTION_LINKS_H
