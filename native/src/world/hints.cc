#include "world/hints.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

#include "base/digest.h"
#include "base/error.h"
#include "description/links.h"

namespace sparkgap {
namespace {

[[noreturn]] void refuse(const std::string& item, const char* allowed) {
  fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "topology hint \"%s\" (spark.sparkgap.topology.hints): %s", item.c_str(),
       allowed);
}

// Which links a world's slowest can be.
bool may_have(int32_t link, ProviderKind provider, bool on_several_nodes) {
  if (on_several_nodes) return link == SPARKGAP_LINK_TCP || link == SPARKGAP_LINK_RDMA;
  if (provider == ProviderKind::kHost) return link == SPARKGAP_LINK_SHM;
  return link == SPARKGAP_LINK_NVLINK || link == SPARKGAP_LINK_PCIE || link == SPARKGAP_LINK_SHM;
}

int32_t link_of(const std::string& item, const std::string& name, ProviderKind provider, bool on_several_nodes) {
  std::string allowed;
  for (int32_t link = 0; link < kLinks; ++link) {
    if (!may_have(link, provider, on_several_nodes)) continue;
    if (name == kLinkNames[link]) return link;
    allowed += (allowed.empty() ? "" : ", ") + std::string(kLinkNames[link]);
  }
  const std::string what = "the slowest link of this world (" +
                           std::string(provider == ProviderKind::kHost ? "host memory" : "GPUs") + ", " +
                           (on_several_nodes ? "several nodes" : "one node") + ") can be " + allowed;
  refuse(item, what.c_str());
}

double number_of(const std::string& item, const std::string& text, const char* allowed) {
  // Not strtod, which follows the locale that a JVM has set for its process.
  double number = 0;
  const char* const end = text.data() + text.size();
  const std::from_chars_result read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(number) || number <= 0) refuse(item, allowed);
  return number;
}

}  // namespace

void Hints::apply(Circumstances* circumstances) const {
  if (link >= 0) {
    circumstances->slowest_link = link;
    circumstances->pcie = link == SPARKGAP_LINK_PCIE;
  }
  if (shared >= 0) {
    circumstances->oversubscribed = circumstances->any_oversubscribed = circumstances->gpu_shared = shared == 1;
    if (circumstances->tuning != nullptr) {
      circumstances->tuning = &kernels::tuning_for(circumstances->device, circumstances->gpu_shared);
    }
  }
  circumstances->link_us = latency_us;
  circumstances->link_gb_per_s = gb_per_s;
}

Hints parse_hints(const char* text, ProviderKind provider, bool on_several_nodes) {
  Hints hints;
  const std::string all = text == nullptr ? "" : text;
  Digest digest;
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(all.find(',', begin), all.size());
    const std::string item = all.substr(begin, end - begin);
    begin = end + 1;
    const size_t equals = item.find('=');
    const std::string key = item.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : item.substr(equals + 1);
    if (key == "links") {
      hints.link = link_of(item, value, provider, on_several_nodes);
    } else if (key == "shared") {
      if (value != "true" && value != "false") refuse(item, "shared is true or false");
      hints.shared = value == "true" ? 1 : 0;
    } else if (key == "latency") {
      hints.latency_us = number_of(item, value, "latency is a number of microseconds, more than 0");
    } else if (key == "bandwidth") {
      hints.gb_per_s = number_of(item, value, "bandwidth is a number of GB/s, more than 0");
    } else {
      refuse(item, "there are links, shared, latency and bandwidth");
    }
    digest.add(item);
  }
  if (!all.empty()) hints.digest = digest.value();
  return hints;
}

}  // namespace sparkgap
