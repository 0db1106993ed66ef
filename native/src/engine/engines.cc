#include "engine/engines.h"

#include <cstring>

#include "engine/device/device_engine.h"
#include "engine/device/library.h"
#include "engine/host/host_engine.h"
#include "engine/nodes/nodes_engine.h"

namespace sparkgap {
namespace {

template <class Kind>
std::unique_ptr<Engine> make(const WorldOptions& options) {
  return std::make_unique<Kind>(options);
}

void probe_host(const char* provider, const char*, Text& found) { found.add("provider %s needs no library", provider); }

void probe_device(const char* provider, const char* library, Text& found) {
  Failure failure;
  if (device_library().probe(provider, library, found, &failure) != SPARKGAP_OK) throw failure;
}

// By ProviderKind.
constexpr EngineKind kEngines[kProviderKinds] = {
    {ProviderKind::kHost, make<HostEngine>, probe_host},
    {ProviderKind::kNvshmem, make<DeviceEngine>, probe_device},
    {ProviderKind::kNccl, make<DeviceEngine>, probe_device},
    {ProviderKind::kNodes, make<NodesEngine>, probe_host},
};

}  // namespace

const EngineKind& engine_kind(const char* provider) {
  char there[100];
  Text text(there, sizeof there);
  for (int32_t kind = 0; kind < kNamedProviders; ++kind) {
    if (provider != nullptr && std::strcmp(provider, kProviderNames[kind]) == 0) return kEngines[kind];
    text.add("%s%s", kind == 0 ? "this library has: " : ", ", kProviderNames[kind]);
  }
  if (provider == nullptr) fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "provider is missing; %s", there);
  fail(SPARKGAP_UNAVAILABLE, kNoPe, "there is no provider \"%s\"; %s", provider, there);
}

const EngineKind& engine_kind_of_nodes(const EngineKind& near) {
  if (near.provider == ProviderKind::kHost) return kEngines[static_cast<int32_t>(ProviderKind::kNodes)];
  if (near.provider == ProviderKind::kNccl) return near;
  fail(
      SPARKGAP_UNAVAILABLE, kNoPe,
      "provider %s has worlds on one node only: between nodes it needs an RDMA card. Use spark.sparkgap.provider=nccl, "
      "or executors of one host",
      kProviderNames[static_cast<int32_t>(near.provider)]);
}

void open_device(int32_t ordinal, sparkgap_device_info* info) {
  Failure failure;
  if (device_library().open_device(ordinal, info, &failure) != SPARKGAP_OK) throw failure;
}

}  // namespace sparkgap
