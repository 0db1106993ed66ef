#include "device/tuning.h"

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

constexpr TuningRow kH200AllReducePair[] = {
    {8_KiB, kPackets, {64, 256, 0, 0, 0}},
    {64_KiB, kPackets, {64, 256, 0, 0, 0}},
    {4_MiB, kLines, {128, 512, 0, 0, 0}},
    {kAny, kOneShot, {64, 512, 16_KiB, 0, 2}},
};
constexpr TuningRow kH200ReducePair[] = {
    {64_KiB, kPackets, {64, 256, 0, 0, 0}},
    {4_MiB, kLines, {128, 512, 0, 0, 0}},
    {kAny, kOneShot, {64, 512, 16_KiB, 0, 2}},
};
constexpr TuningRow kH200CopyPair[] = {
    {64_KiB, kPackets, {64, 256, 0, 0, 0}},
    {2_MiB, kLines, {128, 512, 0, 0, 0}},
    {kAny, kChunked, {64, 512, 16_KiB, 0, 2}},
};
constexpr TuningRow kH200BroadcastPair[] = {
    {64_KiB, kPackets, {64, 256, 0, 0, 0}},
    {2_MiB, kLines, {128, 512, 0, 0, 0}},
    {kAny, kOneShot, {64, 512, 16_KiB, 0, 2}},
};

// Not measured, for want of such hosts: the sizes are those of two PEs, for what a PE sends to all.
constexpr TuningRow kH200AllReduceMore[] = {
    {128_KiB, kPackets, {64, 256, 0, 0, 0}},
    {1_MiB, kLines, {128, 512, 0, 0, 0}},
    {kAny, kTwoShot, {64, 512, 0, 0, 0}},
};
constexpr TuningRow kH200ReduceMore[] = {
    {128_KiB, kPackets, {64, 256, 0, 0, 0}},
    {1_MiB, kLines, {128, 512, 0, 0, 0}},
    {kAny, kTwoShot, {64, 512, 0, 0, 0}},
};
constexpr TuningRow kH200CopyMore[] = {
    {128_KiB, kPackets, {64, 256, 0, 0, 0}},
    {2_MiB, kLines, {128, 512, 0, 0, 0}},
    {kAny, kChunked, {64, 512, 16_KiB, 0, 2}},
};
constexpr TuningRow kH200BroadcastMore[] = {
    {128_KiB, kPackets, {64, 256, 0, 0, 0}},
    {1_MiB, kLines, {128, 512, 0, 0, 0}},
    {kAny, kChunked, {64, 512, 0, 0, 0}},
};

constexpr TuningRow kAllToAllv[] = {{kAny, kChunked, {64, 512, 0, 0, 0}}};
constexpr TuningRow kBarrier[] = {{kAny, Algorithm::kFlags, {1, 32, 0, 0, 0}}};

template <int32_t kCount>
constexpr TuningRows rows(const TuningRow (&table)[kCount]) {
  return {table, kCount};
}

// In the order of SPARKGAP_ALL_REDUCE...
constexpr Tuning kH200 = {
    "NVIDIA H200",
    {rows(kH200AllReducePair), rows(kH200CopyPair), rows(kH200CopyPair), rows(kH200BroadcastPair),
     rows(kH200ReducePair), rows(kH200CopyPair), rows(kAllToAllv), rows(kBarrier)},
    {rows(kH200AllReduceMore), rows(kH200CopyMore), rows(kH200CopyMore), rows(kH200BroadcastMore),
     rows(kH200ReduceMore), rows(kH200CopyMore), rows(kAllToAllv), rows(kBarrier)},
};

constexpr const Tuning* kTables[] = {&kH200};

// Where a table has none for an algorithm that a caller holds to.
constexpr Shape kPlainShape = {64, 512, 16_KiB, 0, 2};

}  // namespace

const Tuning& h200_tuning() { return kH200; }

const Tuning& tuning_for(const char* gpu) {
  for (const Tuning* table : kTables) {
    if (std::strcmp(table->gpu, gpu) == 0) return *table;
  }
  return kH200;
}

Shape tuned_shape(const Tuning& tuning, int32_t collective, Algorithm algorithm, uint64_t bytes, int32_t pes) {
  const TuningRows& rows = rows_of(tuning, collective, pes);
  const uint64_t sent = bytes * static_cast<uint64_t>(pes > 2 ? pes - 1 : 1);
  Shape shape = kPlainShape;
  for (int32_t row = 0; row < rows.count; ++row) {
    if (rows.rows[row].algorithm != algorithm) continue;
    shape = rows.rows[row].shape;
    if (sent <= rows.rows[row].bytes) break;
  }
  return shape;
}

}  // namespace sparkgap::kernels
