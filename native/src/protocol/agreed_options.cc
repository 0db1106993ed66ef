#include "protocol/agreed_options.h"

#include <cstring>
#include <string>

namespace sparkgap {

Failure compare_options(const NamedPe& own, const AgreedOptions& mine, const NamedPe& other,
                        const AgreedOptions& theirs) {
  Failure failure;
  const auto differs = [&](const char* key, const std::string& here, const std::string& there) {
    failure.status = SPARKGAP_MISMATCH;
    failure.pe = other.pe;
    Text(failure.message, sizeof failure.message)
        .add(
            "PEs of one world were made with different options: %s is %s on PE %d (%s), but %s on PE %d (%s); it must "
            "be the same everywhere",
            key, here.c_str(), own.pe, own.label, there.c_str(), other.pe, other.label);
    return failure;
  };
  const auto on_or_off = [](int32_t value) { return value != 0 ? "on" : "off"; };
  const auto name = [](const AgreedOptions& of) {
    return std::string(of.provider, strnlen(of.provider, sizeof of.provider));
  };
  if (theirs.check != mine.check) {
    return differs("check (spark.sparkgap.check)", on_or_off(mine.check), on_or_off(theirs.check));
  }
  if (theirs.peer_timeout_ms != mine.peer_timeout_ms) {
    return differs("peer_timeout_ms (spark.sparkgap.peer.timeout)", std::to_string(mine.peer_timeout_ms),
                   std::to_string(theirs.peer_timeout_ms));
  }
  if (name(theirs) != name(mine)) return differs("the provider (spark.sparkgap.provider)", name(mine), name(theirs));
  return failure;
}

}  // namespace sparkgap
