#include "select/tuning.h"

#include <cstring>

namespace sparkgap::kernels {
namespace {

constexpr uint64_t kAny = ~0ull;
constexpr uint64_t operator""_KiB(unsigned long long count) { return count << 10; }
constexpr uint64_t operator""_MiB(unsigned long long count) { return count << 20; }

constexpr Algorithm kPackets = Algorithm::kPackets;
constexpr Algorithm kLines = Algorithm::kLines;
constexpr Algorithm kOneShot = Algorithm::kOneShot;
constexpr Algorithm kTwoShot = Algorithm::kTwoShot;
constexpr Algorithm kChunked = Algorithm::kChunked;

// Shapes: blocks, threads of a block, bytes of a chunk, sender warps (0: bulk copies), groups of takers.
constexpr Shape kFewPackets = {128, 128, 0, 0, 0};
constexpr Shape kManyPackets = {128, 256, 0, 0, 0};
constexpr Shape kFewLines = {128, 128, 0, 0, 0};
constexpr Shape kSomeLines = {128, 256, 0, 0, 0};
constexpr Shape kManyLines = {128, 512, 0, 0, 0};
constexpr Shape kWideLines = {128, 1024, 0, 0, 0};
constexpr Shape kChunks = {128, 512, 8_KiB, 4, 4};
constexpr Shape kBulkChunks = {128, 512, 16_KiB, 0, 7};
constexpr Shape kSteps = {64, 512, 0, 0, 0};

// Two H200 over NVLink. `bytes` is the message.
constexpr TuningRow kH200ReducingPair[] = {
    {4_KiB, kPackets, kFewPackets}, {32_KiB, kPackets, kManyPackets}, {160_KiB, kLines, kFewLines},
    {768_KiB, kLines, kSomeLines},  {8_MiB, kLines, kManyLines},      {64_MiB, kLines, kWideLines},
    {kAny, kOneShot, kChunks},
};
constexpr TuningRow kH200BlocksPair[] = {
    {4_KiB, kPackets, kFewPackets}, {32_KiB, kPackets, kManyPackets}, {160_KiB, kLines, kFewLines},
    {768_KiB, kLines, kSomeLines},  {8_MiB, kLines, kManyLines},      {64_MiB, kLines, kWideLines},
    {kAny, kChunked, kChunks},
};

// Worlds that are held to few lanes (spark.sparkgap.kernel.max.blocks): blocks as wide as they can be, and
// beyond lines one thread's bulk copies, which do the work of many.
constexpr TuningRow kH200ReducingPairWithFew[] = {
    {64_KiB, kPackets, kManyPackets},
    {512_KiB, kLines, kManyLines},
    {64_MiB, kLines, kWideLines},
    {kAny, kOneShot, kBulkChunks},
};
constexpr TuningRow kH200BlocksPairWithFew[] = {
    {64_KiB, kPackets, kManyPackets},
    {512_KiB, kLines, kManyLines},
    {64_MiB, kLines, kWideLines},
    {kAny, kChunked, kBulkChunks},
};

// Three PEs and more. Not measured, for want of such hosts: the sizes are those of two PEs, for what a PE sends to all;
// where two-shot or a scatter sends less, these come sooner.
constexpr TuningRow kH200AllReduceMore[] = {
    {4_KiB, kPackets, kFewPackets},
    {128_KiB, kPackets, kManyPackets},
    {2_MiB, kLines, kManyLines},
    {kAny, kTwoShot, kSteps},
};
constexpr TuningRow kH200BlocksMore[] = {
    {4_KiB, kPackets, kFewPackets},
    {128_KiB, kPackets, kManyPackets},
    {64_MiB, kLines, kManyLines},
    {kAny, kChunked, kChunks},
};
constexpr TuningRow kH200BroadcastMore[] = {
    {4_KiB, kPackets, kFewPackets},
    {128_KiB, kPackets, kManyPackets},
    {2_MiB, kLines, kManyLines},
    {kAny, kChunked, kSteps},
};

// PEs that share a GPU, under MPS: measured with two and four on one H200.
constexpr TuningRow kSharedReducing[] = {{4_KiB, kPackets, kFewPackets},
                                         {64_KiB, kPackets, kManyPackets},
                                         {4_MiB, kLines, kManyLines},
                                         {kAny, kTwoShot, kSteps}};
constexpr TuningRow kSharedBlocks[] = {{4_KiB, kPackets, kFewPackets},
                                       {64_KiB, kPackets, kManyPackets},
                                       {16_MiB, kLines, kManyLines},
                                       {kAny, kChunked, kChunks}};
constexpr TuningRow kSharedBroadcast[] = {{4_KiB, kPackets, kFewPackets},
                                          {64_KiB, kPackets, kManyPackets},
                                          {4_MiB, kLines, kManyLines},
                                          {kAny, kChunked, kSteps}};

constexpr TuningRow kAllToAllv[] = {{kAny, kChunked, kSteps}};
constexpr TuningRow kBarrier[] = {{kAny, Algorithm::kFlags, {1, 32, 0, 0, 0}}};

template <int32_t kCount>
constexpr TuningRows rows(const TuningRow (&table)[kCount]) {
  return {table, kCount};
}

// In the order of SPARKGAP_ALL_REDUCE...
constexpr Tuning kH200 = {
    "NVIDIA H200",
    64,
    {rows(kH200ReducingPair), rows(kH200BlocksPair), rows(kH200BlocksPair), rows(kH200ReducingPair),
     rows(kH200ReducingPair), rows(kH200BlocksPair), rows(kAllToAllv), rows(kBarrier)},
    {rows(kH200ReducingPairWithFew), rows(kH200BlocksPairWithFew), rows(kH200BlocksPairWithFew),
     rows(kH200ReducingPairWithFew), rows(kH200ReducingPairWithFew), rows(kH200BlocksPairWithFew), rows(kAllToAllv),
     rows(kBarrier)},
    {rows(kH200AllReduceMore), rows(kH200BlocksMore), rows(kH200BlocksMore), rows(kH200BroadcastMore),
     rows(kH200AllReduceMore), rows(kH200BlocksMore), rows(kAllToAllv), rows(kBarrier)},
};

#define SPARKGAP_SHARED_ROWS                                                                \
  {rows(kSharedReducing), rows(kSharedBlocks), rows(kSharedBlocks), rows(kSharedBroadcast), \
   rows(kSharedReducing), rows(kSharedBlocks), rows(kAllToAllv),    rows(kBarrier)}
constexpr Tuning kShared = {"", 0, SPARKGAP_SHARED_ROWS, SPARKGAP_SHARED_ROWS, SPARKGAP_SHARED_ROWS};
#undef SPARKGAP_SHARED_ROWS

constexpr const Tuning* kTables[] = {&kH200};

}  // namespace

bool is_shape(int32_t collective, Algorithm algorithm, const Shape& shape) {
  const auto within = [](int32_t number, int32_t least, int32_t most) { return number >= least && number <= most; };
  // What the kernels are compiled for: packets and chunks have blocks of at most 512 threads.
  const int32_t most_threads = algorithm == kLines ? 1024 : 512;
  const bool by_chunks = algorithm == kOneShot || (algorithm == kChunked && collective != SPARKGAP_BROADCAST &&
                                                   collective != SPARKGAP_ALL_TO_ALLV);
  const bool chunk_is_right = !by_chunks || (shape.chunk_bytes >= 1_KiB && shape.chunk_bytes % 1_KiB == 0);
  return within(shape.blocks, 1, 1024) && within(shape.threads, 32, most_threads) && shape.threads % 32 == 0 &&
         shape.chunk_bytes <= 16_KiB && chunk_is_right && within(shape.senders, 0, 7) && within(shape.groups, 0, 14);
}

const Tuning& h200_tuning() { return kH200; }

const Tuning& tuning_for(const char* gpu, bool shared) {
  if (shared) return kShared;
  for (const Tuning* table : kTables) {
    if (std::strcmp(table->gpu, gpu) == 0) return *table;
  }
  return kH200;
}

Shape tuned_shape(const Tuning& tuning, int32_t collective, Algorithm algorithm, uint64_t bytes, int32_t pes,
                  int32_t lanes) {
  const TuningRows& rows = rows_of(tuning, collective, pes, lanes);
  // Where the table has none for an algorithm that a caller holds to.
  Shape shape = kChunks;
  for (int32_t row = 0; row < rows.count; ++row) {
    if (rows.rows[row].algorithm != algorithm) continue;
    shape = rows.rows[row].shape;
    if (bytes <= bytes_of(rows.rows[row], pes)) break;
  }
  return shape;
}

}  // namespace sparkgap::kernels
