#include "floors.h"
#include "measure.h"

namespace sparkgap::bench {
namespace {

constexpr uint64_t kCopied = 64 << 20;

__global__ void empty_kernel() {}

// As many blocks as the GPU has multiprocessors, four words of each thread on their way: what was fastest.
__global__ void __launch_bounds__(512) copy_to_neighbour(uint4* to, const uint4* from, uint64_t count) {
  constexpr int kInFlight = 4;
  const uint64_t stride = uint64_t{gridDim.x} * blockDim.x;
  for (uint64_t i = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += kInFlight * stride) {
    uint4 values[kInFlight];
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      if (i + k * stride < count) values[k] = __ldcg(from + i + k * stride);
    }
#pragma unroll
    for (int k = 0; k < kInFlight; ++k) {
      if (i + k * stride < count) to[i + k * stride] = values[k];
    }
  }
}

__device__ void wait_for(const uint64_t* word, uint64_t value) {
  uint64_t seen;
  do {
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(seen) : "l"(word) : "memory");
  } while (seen != value);
}

// Round `first` and those after it: PE 0 puts and waits, PE 1 waits and puts.
__global__ void __launch_bounds__(256)
    put_and_signal(uint4* to, const uint4* from, uint64_t* signal_to, const uint64_t* signal_from, uint64_t bytes,
                   uint64_t first, uint64_t rounds, bool begins) {
  const uint32_t count = static_cast<uint32_t>((bytes + sizeof(uint4) - 1) / sizeof(uint4));
  for (uint64_t round = first; round < first + rounds; ++round) {
    if (!begins || round > first) {
      if (threadIdx.x == 0) wait_for(signal_from, begins ? round - 1 : round);
      __syncthreads();
    }
    if (bytes == 8) {
      if (threadIdx.x == 0) *reinterpret_cast<volatile uint64_t*>(to) = round;
    } else {
      for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) to[i] = from[i];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(signal_to), "l"(round) : "memory");
    }
  }
  if (begins && threadIdx.x == 0) wait_for(signal_from, first + rounds - 1);
}

// The same rounds; `to` and `from` have two places for packets, by round.
__global__ void __launch_bounds__(256) send_in_packets(uint4* to, const uint4* from, uint2* data, uint32_t words,
                                                       uint64_t first, uint64_t rounds, bool begins) {
  const auto take = [&](uint32_t round) {
    for (uint32_t word = threadIdx.x; word < words; word += blockDim.x) {
      const uint4* packet = from + round % 2 * words + word;
      uint4 seen;
      do {
        asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(seen.x), "=r"(seen.y), "=r"(seen.z), "=r"(seen.w)
                     : "l"(packet)
                     : "memory");
      } while (seen.y != round || seen.w != round);
      data[word] = {seen.x, seen.z};
    }
    // What the whole block has taken is there for all of it.
    __syncthreads();
  };
  for (uint64_t round = first; round < first + rounds; ++round) {
    if (!begins || round > first) take(static_cast<uint32_t>(begins ? round - 1 : round));
    const uint32_t number = static_cast<uint32_t>(round);
    for (uint32_t word = threadIdx.x; word < words; word += blockDim.x) {
      const uint2 value = data[word];
      asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(to + number % 2 * words + word),
                   "r"(value.x), "r"(number), "r"(value.y)
                   : "memory");
    }
  }
  if (begins) take(static_cast<uint32_t>(first + rounds - 1));
}

}  // namespace

Floors measure_floors(test::GpuPe& pe, const test::PeerMemory& memory) {
  const Enqueue empty = [&] { empty_kernel<<<1, 32, 0, pe.stream>>>(); };
  cudaDeviceProp properties;
  test::cuda_ok(cudaGetDeviceProperties(&properties, pe.pe() % pe.gpus()), "cudaGetDeviceProperties");
  uint8_t* to = memory.parts[(pe.pe() + 1) % pe.pes()];
  const double copy = in_graph(pe, 2, [&] {
    copy_to_neighbour<<<properties.multiProcessorCount, 512, 0, pe.stream>>>(
        reinterpret_cast<uint4*>(to + kCopied), reinterpret_cast<const uint4*>(memory.own()), kCopied / sizeof(uint4));
  });
  return {by_stream(pe, 400, empty), in_graph(pe, 20, empty), launch_and_sync(pe, 100, empty), kCopied / copy / 1e3};
}

double put_with_signal_us(test::GpuPe& pe, const test::PeerMemory& memory, uint64_t bytes) {
  constexpr uint64_t kRounds = 1000;
  constexpr uint64_t kSignalAt = 1 << 20;
  static uint64_t first = 1;
  uint8_t* peer = memory.parts[1 - pe.pe()];
  const double us = by_stream(pe, 1, [&] {
    const int threads = static_cast<int>(std::min<uint64_t>(256, std::max<uint64_t>(32, (bytes + 15) / 16)));
    put_and_signal<<<1, threads, 0, pe.stream>>>(
        reinterpret_cast<uint4*>(peer), reinterpret_cast<const uint4*>(memory.own() + 2 * kSignalAt),
        reinterpret_cast<uint64_t*>(peer + kSignalAt), reinterpret_cast<uint64_t*>(memory.own() + kSignalAt), bytes,
        first, kRounds, pe.pe() == 0);
    first += kRounds;
  });
  return us / kRounds / 2;
}

double message_in_packets_us(test::GpuPe& pe, const test::PeerMemory& memory, uint64_t bytes) {
  constexpr uint64_t kRounds = 1000;
  constexpr uint64_t kPacketsAt = 4 << 20;
  static uint64_t first = 1;
  const uint32_t words = static_cast<uint32_t>((bytes + 7) / 8);
  const double us = by_stream(pe, 1, [&] {
    send_in_packets<<<1, std::min(256u, std::max(32u, words)), 0, pe.stream>>>(
        reinterpret_cast<uint4*>(memory.parts[1 - pe.pe()] + kPacketsAt),
        reinterpret_cast<const uint4*>(memory.own() + kPacketsAt),
        reinterpret_cast<uint2*>(memory.own() + 2 * kPacketsAt), words, first, kRounds, pe.pe() == 0);
    first += kRounds;
  });
  return us / kRounds / 2;
}

}  // namespace sparkgap::bench
