// Which algorithms there are: the one place where an algorithm is listed. From it come the tables of functions, the
// names that people give to sparkgap_world_set_algorithm, the routes, and what the tests run.
//
// To add one: its file collective/<operation>/<algorithm>.cc or .cu, and its line in the list of the host's or the
// kernels' algorithms; its name, too, if no other has it. When it is taken is for select/select.cc to say.
#ifndef SPARKGAP_DESCRIPTION_ALGORITHMS_H
#define SPARKGAP_DESCRIPTION_ALGORITHMS_H

#include <cstdint>
#include <cstring>

#include "sparkgap/sparkgap.h"

namespace sparkgap {

// The names. kDefault: what NCCL does, in its own worlds and beside NVSHMEM.
#define SPARKGAP_ALGORITHM_NAMES(NAME) \
  NAME(kPackets, "packets")            \
  NAME(kLines, "lines")                \
  NAME(kOneShot, "one-shot")           \
  NAME(kTwoShot, "two-shot")           \
  NAME(kStaged, "staged")              \
  NAME(kDirect, "direct")              \
  NAME(kFlags, "flags")                \
  NAME(kChunked, "chunked")            \
  NAME(kRing, "ring")                  \
  NAME(kOneTrip, "one-trip")           \
  NAME(kRails, "rails")                \
  NAME(kScattered, "scattered-rails")  \
  NAME(kPairs, "pairs")                \
  NAME(kDefault, "default")

// On host memory: collective, name, function (collective/host_algorithms.h). A `direct` one needs arrays that the
// others can read, which only the call itself can find out, and gives way to one that any memory will do for.
#define SPARKGAP_HOST_ALGORITHMS(ALGORITHM)                 \
  ALGORITHM(ALL_REDUCE, kPackets, all_reduce_packets)       \
  ALGORITHM(ALL_REDUCE, kOneShot, all_reduce_one_shot)      \
  ALGORITHM(ALL_REDUCE, kTwoShot, all_reduce_two_shot)      \
  ALGORITHM(ALL_REDUCE, kDirect, all_reduce_direct)         \
  ALGORITHM(REDUCE_SCATTER, kStaged, reduce_scatter_staged) \
  ALGORITHM(REDUCE_SCATTER, kDirect, reduce_scatter_direct) \
  ALGORITHM(ALL_GATHER, kStaged, all_gather_staged)         \
  ALGORITHM(ALL_GATHER, kDirect, all_gather_direct)         \
  ALGORITHM(BROADCAST, kStaged, broadcast_staged)           \
  ALGORITHM(BROADCAST, kDirect, broadcast_direct)           \
  ALGORITHM(REDUCE, kStaged, reduce_staged)                 \
  ALGORITHM(REDUCE, kDirect, reduce_direct)                 \
  ALGORITHM(ALL_TO_ALL, kStaged, all_to_all_staged)         \
  ALGORITHM(ALL_TO_ALL, kDirect, all_to_all_direct)         \
  ALGORITHM(ALL_TO_ALLV, kStaged, all_to_allv_staged)       \
  ALGORITHM(BARRIER, kFlags, barrier_flags)

// On host memory of several nodes: collective, name, function (collective/nodes_algorithms.h).
#define SPARKGAP_NODES_ALGORITHMS(ALGORITHM)                    \
  ALGORITHM(ALL_REDUCE, kOneTrip, all_reduce_one_trip)          \
  ALGORITHM(ALL_REDUCE, kRails, all_reduce_rails)               \
  ALGORITHM(ALL_REDUCE, kScattered, all_reduce_scattered_rails) \
  ALGORITHM(REDUCE_SCATTER, kRails, reduce_scatter_rails)       \
  ALGORITHM(ALL_GATHER, kRails, all_gather_rails)               \
  ALGORITHM(BROADCAST, kRails, broadcast_rails)                 \
  ALGORITHM(BROADCAST, kScattered, broadcast_scattered_rails)   \
  ALGORITHM(REDUCE, kRails, reduce_rails)                       \
  ALGORITHM(REDUCE, kScattered, reduce_scattered_rails)         \
  ALGORITHM(ALL_TO_ALL, kPairs, all_to_all_pairs)               \
  ALGORITHM(ALL_TO_ALLV, kPairs, all_to_allv_pairs)             \
  ALGORITHM(BARRIER, kOneTrip, barrier_one_trip)

// Kernels, the same for all providers of GPU worlds: collective, name, launch_<function> (collective/launch.h). Some
// functions carry several collectives.
#define SPARKGAP_KERNEL_ALGORITHMS(ALGORITHM)           \
  ALGORITHM(ALL_REDUCE, kPackets, packets)              \
  ALGORITHM(ALL_REDUCE, kLines, lines)                  \
  ALGORITHM(ALL_REDUCE, kOneShot, chunks)               \
  ALGORITHM(ALL_REDUCE, kTwoShot, all_reduce_two_shot)  \
  ALGORITHM(ALL_REDUCE, kRing, all_reduce_ring)         \
  ALGORITHM(REDUCE_SCATTER, kPackets, packets)          \
  ALGORITHM(REDUCE_SCATTER, kLines, lines)              \
  ALGORITHM(REDUCE_SCATTER, kChunked, chunks)           \
  ALGORITHM(ALL_GATHER, kPackets, packets)              \
  ALGORITHM(ALL_GATHER, kLines, lines)                  \
  ALGORITHM(ALL_GATHER, kChunked, chunks)               \
  ALGORITHM(BROADCAST, kPackets, packets)               \
  ALGORITHM(BROADCAST, kLines, lines)                   \
  ALGORITHM(BROADCAST, kOneShot, chunks)                \
  ALGORITHM(BROADCAST, kChunked, broadcast_chunked)     \
  ALGORITHM(REDUCE, kPackets, packets)                  \
  ALGORITHM(REDUCE, kLines, lines)                      \
  ALGORITHM(REDUCE, kOneShot, chunks)                   \
  ALGORITHM(REDUCE, kTwoShot, reduce_two_shot)          \
  ALGORITHM(ALL_TO_ALL, kPackets, packets)              \
  ALGORITHM(ALL_TO_ALL, kLines, lines)                  \
  ALGORITHM(ALL_TO_ALL, kChunked, chunks)               \
  ALGORITHM(ALL_TO_ALLV, kChunked, all_to_allv_chunked) \
  ALGORITHM(BARRIER, kFlags, barrier_flags)

enum class Algorithm : int32_t {
  kAuto = 0,  // let select() decide
#define SPARKGAP_ENUMERATOR(name, text) name,
  SPARKGAP_ALGORITHM_NAMES(SPARKGAP_ENUMERATOR)
#undef SPARKGAP_ENUMERATOR
};

// kAuto is no algorithm that a call could take.
inline constexpr const char* kAlgorithmNames[] = {"",
#define SPARKGAP_TEXT(name, text) text,
                                                  SPARKGAP_ALGORITHM_NAMES(SPARKGAP_TEXT)
#undef SPARKGAP_TEXT
};
constexpr int32_t kAlgorithms = sizeof kAlgorithmNames / sizeof kAlgorithmNames[0];

constexpr const char* algorithm_name(Algorithm algorithm) { return kAlgorithmNames[static_cast<int32_t>(algorithm)]; }

// What a world's symmetric memory and routes are named after.
enum class ProviderKind : int32_t { kHost = 0, kNvshmem, kNccl, kNodes };
constexpr int32_t kProviderKinds = 4;
// The last is what provider host is where PEs are on several nodes; nobody asks for it by name.
constexpr int32_t kNamedProviders = 3;
inline constexpr const char* kProviderNames[kProviderKinds] = {"host", "nvshmem", "nccl", "nodes"};

struct ListedAlgorithm {
  int32_t collective;
  Algorithm algorithm;
};

#define SPARKGAP_LISTED(collective, name, function) {SPARKGAP_##collective, Algorithm::name},
inline constexpr ListedAlgorithm kHostAlgorithms[] = {SPARKGAP_HOST_ALGORITHMS(SPARKGAP_LISTED)};
inline constexpr ListedAlgorithm kNodesAlgorithms[] = {SPARKGAP_NODES_ALGORITHMS(SPARKGAP_LISTED)};
inline constexpr ListedAlgorithm kKernelAlgorithms[] = {SPARKGAP_KERNEL_ALGORITHMS(SPARKGAP_LISTED)};
#undef SPARKGAP_LISTED

// What the compiler makes of the lists.
struct AlgorithmTables {
  bool has[kProviderKinds][SPARKGAP_COLLECTIVES][kAlgorithms];
  char route[kProviderKinds][kAlgorithms][32];            // "host/one-shot"
  char names[kProviderKinds][SPARKGAP_COLLECTIVES][128];  // "packets, one-shot"
};

constexpr char* append_text(char* to, const char* text) {
  while (*text != '\0') *to++ = *text++;
  return to;
}

constexpr AlgorithmTables make_algorithm_tables() {
  AlgorithmTables tables = {};
  const int32_t host = static_cast<int32_t>(ProviderKind::kHost);
  const int32_t nvshmem = static_cast<int32_t>(ProviderKind::kNvshmem);
  const int32_t nccl = static_cast<int32_t>(ProviderKind::kNccl);
  for (const ListedAlgorithm& listed : kHostAlgorithms) {
    tables.has[host][listed.collective][static_cast<int32_t>(listed.algorithm)] = true;
  }
  for (const ListedAlgorithm& listed : kNodesAlgorithms) {
    const int32_t nodes = static_cast<int32_t>(ProviderKind::kNodes);
    tables.has[nodes][listed.collective][static_cast<int32_t>(listed.algorithm)] = true;
  }
  for (int32_t provider = host + 1; provider < kNamedProviders; ++provider) {
    for (const ListedAlgorithm& listed : kKernelAlgorithms) {
      tables.has[provider][listed.collective][static_cast<int32_t>(listed.algorithm)] = true;
    }
  }
  for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
    tables.has[nvshmem][collective][static_cast<int32_t>(Algorithm::kDefault)] = true;
    tables.has[nccl][collective][static_cast<int32_t>(Algorithm::kDefault)] = true;
  }
  for (int32_t provider = 0; provider < kProviderKinds; ++provider) {
    for (int32_t algorithm = 1; algorithm < kAlgorithms; ++algorithm) {
      const bool beside = provider == nvshmem && algorithm == static_cast<int32_t>(Algorithm::kDefault);
      char* to = append_text(tables.route[provider][algorithm], kProviderNames[beside ? nccl : provider]);
      append_text(append_text(to, "/"), kAlgorithmNames[algorithm]);
    }
    for (int32_t collective = 0; collective < SPARKGAP_COLLECTIVES; ++collective) {
      char* const begin = tables.names[provider][collective];
      char* to = begin;
      for (int32_t algorithm = 1; algorithm < kAlgorithms; ++algorithm) {
        if (!tables.has[provider][collective][algorithm]) continue;
        to = append_text(append_text(to, to == begin ? "" : ", "), kAlgorithmNames[algorithm]);
      }
    }
  }
  return tables;
}

inline constexpr AlgorithmTables kAlgorithmTables = make_algorithm_tables();

// Whether `collective` can go by the algorithm on that provider.
constexpr bool has_algorithm(ProviderKind provider, int32_t collective, Algorithm algorithm) {
  return kAlgorithmTables.has[static_cast<int32_t>(provider)][collective][static_cast<int32_t>(algorithm)];
}

// "one-shot, two-shot": what find_algorithm knows for `collective`. Static.
inline const char* algorithm_names(int32_t collective, ProviderKind provider) {
  return kAlgorithmTables.names[static_cast<int32_t>(provider)][collective];
}

// "host/one-shot": the route that an algorithm has on a provider; "" for kAuto. Static. NCCL's is nccl/default, beside
// NVSHMEM, too.
inline const char* route_name(ProviderKind provider, Algorithm algorithm) {
  return kAlgorithmTables.route[static_cast<int32_t>(provider)][static_cast<int32_t>(algorithm)];
}

// The algorithm of that name that `collective` has on the provider; kAuto for "auto". False if there is none.
inline bool find_algorithm(int32_t collective, const char* name, ProviderKind provider, Algorithm* algorithm) {
  if (std::strcmp(name, "auto") == 0) {
    *algorithm = Algorithm::kAuto;
    return true;
  }
  for (int32_t number = 1; number < kAlgorithms; ++number) {
    const Algorithm found = static_cast<Algorithm>(number);
    if (std::strcmp(name, algorithm_name(found)) != 0 || !has_algorithm(provider, collective, found)) continue;
    *algorithm = found;
    return true;
  }
  return false;
}

// As find_algorithm, for a route of that provider ("host/one-shot") as well as for an algorithm.
inline bool find_route(int32_t collective, const char* route, ProviderKind provider, Algorithm* algorithm) {
  for (int32_t number = 1; number < kAlgorithms; ++number) {
    const Algorithm found = static_cast<Algorithm>(number);
    if (std::strcmp(route, route_name(provider, found)) != 0 || !has_algorithm(provider, collective, found)) continue;
    *algorithm = found;
    return true;
  }
  return find_algorithm(collective, route, provider, algorithm);
}

}  // namespace sparkgap

#endif  // SPARKGAP_DESCRIPTION_ALGORITHMS_H
