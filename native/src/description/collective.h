// What each collective is, once for all who have to know: argument checks, the call's signature and its words, dispatch
// on the host and to kernels, staging, bench and tests. sparkgap.h says the same to people.
#ifndef SPARKGAP_DESCRIPTION_COLLECTIVE_H
#define SPARKGAP_DESCRIPTION_COLLECTIVE_H

#include <cstdint>

#include "sparkgap/sparkgap.h"

namespace sparkgap {

// How many elements an array has.
enum class Extent : int32_t {
  kNone,            // there is no such array
  kCount,           // the call's count
  kCountForEachPe,  // a block of count elements for each PE, in PE order
  kTable,           // as the call's counts and offsets say, a block for each PE
};

struct Array {
  Extent extent;
  bool root_only;  // elsewhere it is not touched, and may be null
};

// The one way in which `in` and `out` may overlap.
enum class InPlace : int32_t {
  kSameArray,       // out == in; with tables, equal ones in both directions
  kOutIsBlockOfIn,  // out == this PE's block of in
  kInIsBlockOfOut,  // in == this PE's block of out
};

// An argument that a collective has is the same on all PEs, but for the tables; these make the call's signature.
struct Collective {
  const char* name;
  bool has_type;
  bool has_count;
  bool has_op;
  bool has_root;
  Array in;
  Array out;
  InPlace in_place;
  bool same_result;  // all PEs hold the same elements afterwards

  constexpr bool has_tables() const { return in.extent == Extent::kTable; }
  constexpr bool has_blocks() const { return in.extent > Extent::kCount || out.extent > Extent::kCount; }
  // Where the root is told in words: whether data comes from it or goes to it.
  constexpr const char* root_preposition() const { return in.root_only ? "from" : "to"; }
};

constexpr Array kCountOnAll = {Extent::kCount, false};
constexpr Array kCountOnRoot = {Extent::kCount, true};
constexpr Array kBlocksOnAll = {Extent::kCountForEachPe, false};
constexpr Array kTableOnAll = {Extent::kTable, false};
constexpr Array kNoArray = {Extent::kNone, false};

// By SPARKGAP_ALL_REDUCE...
// clang-format off
inline constexpr Collective kCollectives[SPARKGAP_COLLECTIVES] = {
    //                type   count  op     root   in            out           in place                  same result
    {"allReduce",     true,  true,  true,  false, kCountOnAll,  kCountOnAll,  InPlace::kSameArray,      true},
    {"reduceScatter", true,  true,  true,  false, kBlocksOnAll, kCountOnAll,  InPlace::kOutIsBlockOfIn, false},
    {"allGather",     true,  true,  false, false, kCountOnAll,  kBlocksOnAll, InPlace::kInIsBlockOfOut, true},
    {"broadcast",     true,  true,  false, true,  kCountOnRoot, kCountOnAll,  InPlace::kSameArray,      true},
    {"reduce",        true,  true,  true,  true,  kCountOnAll,  kCountOnRoot, InPlace::kSameArray,      false},
    {"allToAll",      true,  true,  false, false, kBlocksOnAll, kBlocksOnAll, InPlace::kSameArray,      false},
    {"allToAllv",     true,  false, false, false, kTableOnAll,  kTableOnAll,  InPlace::kSameArray,      false},
    {"barrier",       false, false, false, false, kNoArray,     kNoArray,     InPlace::kSameArray,      false},
};
// clang-format on

constexpr bool is_collective(int32_t collective) { return collective >= 0 && collective < SPARKGAP_COLLECTIVES; }

// Blocks of `count` elements that an array without tables consists of.
constexpr uint64_t blocks_of(Array array, uint64_t pes) {
  switch (array.extent) {
    case Extent::kCount:
      return 1;
    case Extent::kCountForEachPe:
      return pes;
    default:
      return 0;
  }
}

// Whether PE `pe` gives or takes anything by the array.
constexpr bool is_used(Array array, int32_t pe, int32_t root) {
  return array.extent != Extent::kNone && (!array.root_only || pe == root);
}

}  // namespace sparkgap

#endif  // SPARKGAP_DESCRIPTION_COLLECTIVE_H
