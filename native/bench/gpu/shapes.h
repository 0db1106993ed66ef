// The launch shapes that are tried for the tables of select/tuning.cc.
#ifndef SPARKGAP_BENCH_GPU_SHAPES_H
#define SPARKGAP_BENCH_GPU_SHAPES_H

#include <string>
#include <vector>

#include "select/tuning.h"

namespace sparkgap::bench {

struct ShapeToTry {
  Algorithm algorithm;
  kernels::Shape shape;
};

inline std::string describe(const kernels::Shape& shape) {
  return ", \"blocks\": " + std::to_string(shape.blocks) + ", \"threads\": " + std::to_string(shape.threads) +
         ", \"chunk\": " + std::to_string(shape.chunk_bytes) + ", \"senders\": " + std::to_string(shape.senders) +
         ", \"groups\": " + std::to_string(shape.groups);
}

inline Algorithm chunks_of(int collective) {
  switch (collective) {
    case SPARKGAP_ALL_REDUCE:
    case SPARKGAP_REDUCE:
    case SPARKGAP_BROADCAST:
      return Algorithm::kOneShot;
    default:
      return Algorithm::kChunked;
  }
}

inline std::vector<ShapeToTry> shapes_to_try(int collective, uint64_t bytes) {
  std::vector<ShapeToTry> shapes;
  if (bytes <= 256 << 10) {
    for (const int blocks : {4, 8, 16, 32, 64, 128}) {
      for (const int threads : {64, 128, 256, 512}) {
        // Less than a word for each block, or more than 16 for each thread.
        if (static_cast<uint64_t>(blocks) * 64 * 8 > 2 * bytes + 4096) continue;
        if (static_cast<uint64_t>(blocks * threads) * 8 * 16 < bytes) continue;
        shapes.push_back({Algorithm::kPackets, {blocks, threads, 0, 0, 0}});
      }
    }
  }
  if (bytes >= 4 << 10) {
    for (const int blocks : {8, 16, 32, 64, 128}) {
      for (const int threads : {128, 256, 512, 1024}) {
        if (static_cast<uint64_t>(blocks * threads) * 16 * 64 < bytes && threads < 512) continue;
        if (static_cast<uint64_t>(blocks) * 128 * 16 > 2 * bytes) continue;
        shapes.push_back({Algorithm::kLines, {blocks, threads, 0, 0, 0}});
      }
    }
  }
  if (bytes >= 512 << 10) {
    for (const int blocks : {8, 16, 32, 64, 128}) {
      for (const uint32_t chunk : {4u << 10, 8u << 10, 16u << 10}) {
        if (blocks * uint64_t{chunk} > bytes) continue;
        for (const int senders : {0, 4, 7}) {
          for (const int groups : {1, 2, 4, 7}) {
            // Too few on their way.
            if (blocks < 32 && (chunk < 16 << 10 || senders != 0)) continue;
            shapes.push_back({chunks_of(collective), {blocks, 512, chunk, senders, groups}});
          }
        }
      }
    }
  }
  return shapes;
}

}  // namespace sparkgap::bench
#endif  // SPARKGAP_BENCH_GPU_SHAPES_H
