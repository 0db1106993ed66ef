#include "protocol/agreed_options.h"

#include <cstdio>
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
  const auto digest = [](uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, value == 0 ? "none" : "%016llx", static_cast<unsigned long long>(value));
    return std::string(text);
  };
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
  if (theirs.deterministic != mine.deterministic) {
    return differs("deterministic (spark.sparkgap.deterministic)", on_or_off(mine.deterministic),
                   on_or_off(theirs.deterministic));
  }
  if (theirs.tables != mine.tables) {
    return differs("the digest of the tuning tables (spark.sparkgap.tuning.table)", digest(mine.tables),
                   digest(theirs.tables));
  }
  if (theirs.hints != mine.hints) {
    return differs("the digest of the hints (spark.sparkgap.topology.hints)", digest(mine.hints), digest(theirs.hints));
  }
  if (name(theirs) != name(mine)) return differs("the provider (spark.sparkgap.provider)", name(mine), name(theirs));
  return failure;
}

}  // namespace sparkgap
