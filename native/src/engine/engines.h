// Which engines there are.
#ifndef SPARKGAP_ENGINE_ENGINES_H
#define SPARKGAP_ENGINE_ENGINES_H

#include <memory>

#include "engine/engine.h"

namespace sparkgap {

// What a world of one provider needs: a line of the table in engines.cc.
struct EngineKind {
  ProviderKind provider;
  // Throws what is missing. `options` outlives the engine.
  std::unique_ptr<Engine> (*make)(const WorldOptions& options);
  // Writes what a world would be made with; throws UNAVAILABLE with the reason if there can be none in this process.
  // `library`: the path that the user gave, or "".
  void (*probe)(const char* provider, const char* library, Text& found);
};

// What worlds on several nodes have; UNAVAILABLE for providers that have none yet.
const EngineKind& engine_kind_of_nodes(const EngineKind& near);

// INVALID_ARGUMENT for nullptr, UNAVAILABLE for a name that is not in the table.
const EngineKind& engine_kind(const char* provider);

// As sparkgap_device_open.
void open_device(int32_t ordinal, sparkgap_device_info* info);

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_ENGINES_H
