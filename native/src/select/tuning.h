// Which algorithm a collective takes on GPUs, at which size, and how its kernel is launched: what is built in, one
// table for each kind of GPU, made from measurement. Shared by both libraries.
//
// The tables are data (tuning.cc); `native/test/gpu/run.sh run RESULTS shapes` measures what they are made of.
#ifndef SPARKGAP_SELECT_TUNING_H
#define SPARKGAP_SELECT_TUNING_H

#include <cstdint>

#include "description/algorithms.h"

namespace sparkgap::kernels {

// How a kernel is launched and cuts its message. All PEs of a call have the same.
struct Shape {
  int32_t blocks;        // at most; fewer where the message does not need them or the world has fewer lanes
  int32_t threads;       // packets and lines: of a block, at most
  uint32_t chunk_bytes;  // chunks: at most
  int32_t senders;       // chunks: warps of a block that send; 0: one thread by bulk copies where it can
  int32_t groups;        // chunks: groups of the other warps, each of which takes whole chunks; 0: one
};

// For messages of up to `bytes`; where a PE sends to several, of up to `bytes` for all of them.
struct TuningRow {
  uint64_t bytes;
  Algorithm algorithm;
  Shape shape;
};

// Rows in the order of their sizes; the last is for all sizes.
struct TuningRows {
  const TuningRow* rows;
  int32_t count;
};

// By collective, SPARKGAP_ALL_REDUCE...
struct Tuning {
  const char* gpu;    // what CUDA calls it
  int32_t few_lanes;  // a world of fewer lanes has few
  TuningRows pair[SPARKGAP_COLLECTIVES];
  TuningRows pair_with_few[SPARKGAP_COLLECTIVES];
  TuningRows more[SPARKGAP_COLLECTIVES];  // for three PEs and more
};

// Whether that algorithm's kernel can be launched so.
bool is_shape(int32_t collective, Algorithm algorithm, const Shape& shape);

const Tuning& h200_tuning();

// The table of the GPUs of that name, the H200's where there is none; or that of PEs that share a GPU, where no link is
// between them and the GPU's memory carries all.
const Tuning& tuning_for(const char* gpu, bool shared);

inline const TuningRows& rows_of(const Tuning& tuning, int32_t collective, int32_t pes, int32_t lanes) {
  if (pes > 2) return tuning.more[collective];
  return (lanes < tuning.few_lanes ? tuning.pair_with_few : tuning.pair)[collective];
}

// The largest message that the row is for.
inline uint64_t bytes_of(const TuningRow& row, int32_t pes) {
  return row.bytes == ~0ull || pes <= 2 ? row.bytes : row.bytes / static_cast<uint64_t>(pes - 1);
}

// The shape of `algorithm` for that size, also where the table would take another algorithm.
Shape tuned_shape(const Tuning& tuning, int32_t collective, Algorithm algorithm, uint64_t bytes, int32_t pes,
                  int32_t lanes);

}  // namespace sparkgap::kernels

#endif  // SPARKGAP_SELECT_TUNING_H
