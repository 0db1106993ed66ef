#include "gpu/stranger.h"
#include "sparkgap/device.cuh"

namespace stranger {
namespace {

using namespace sparkgap::device;

constexpr int kThreads = 256;

template <class Element, class Operation>
__global__ void reduce_kernel(const __grid_constant__ sparkgap_device_world world, const void* in, void* out,
                              uint64_t count) {
  if (gridDim.x == 1) {
    Block block(world, 0);
    block.all_reduce<Element, Operation>(in, out, count);
  } else {
    Grid grid(world);
    grid.all_reduce<Element, Operation>(in, out, count);
  }
}

__global__ void gather_kernel(const __grid_constant__ sparkgap_device_world world, const float* in, float* out,
                              uint64_t count) {
  if (gridDim.x == 1) {
    Block block(world, 0);
    block.all_gather(in, out, count);
  } else {
    Grid grid(world);
    grid.all_gather(in, out, count);
  }
}

__device__ float value_of(uint32_t round, int32_t pe, uint64_t i) {
  return static_cast<float>((round * 31 + static_cast<uint32_t>(pe) * 7 + static_cast<uint32_t>(i)) % 1021);
}

__device__ float sum_of(uint32_t round, int32_t pes, uint64_t i) {
  float sum = 0;
  for (int32_t pe = 0; pe < pes; ++pe) sum += value_of(round, pe, i);
  return sum;
}

__device__ void check(float actual, float expected, Count* wrong) {
  if (actual != expected) atomicAdd(wrong, Count{1});
}

__device__ void delay(uint32_t ns) {
  const uint64_t start = clock_ns();
  while (clock_ns() - start < ns) {
  }
}

__global__ void mixture_kernel(const __grid_constant__ sparkgap_device_world world, float* x, float* y, uint32_t most,
                               uint32_t rounds, Count* wrong) {
  // What uses other channels may go on beside it.
  Grid grid(world, 64);
  uint32_t random = 1;
  for (uint32_t round = 0; round < rounds; ++round) {
    random = random * 1664525 + 1013904223;
    const uint64_t count = 1 + (random >> 8) % min(most, 1u << (random >> 28));
    const Share own = grid.share(count, sizeof(float));
    const auto fill = [&](uint32_t number) {
      for (uint64_t i = own.begin + threadIdx.x; i < own.end; i += blockDim.x) x[i] = value_of(number, world.pe, i);
      if ((random >> 4) % 8 == static_cast<uint32_t>(world.pe)) delay(random % 3000);
    };
    // Without a meeting of the grid between them.
    for (uint32_t repeat = 0; repeat < 3; ++repeat) {
      fill(round + repeat);
      float* out = repeat == 1 ? x : y;
      if (!grid.all_reduce_share(x, out, count)) return;
      for (uint64_t i = own.begin + threadIdx.x; i < own.end; i += blockDim.x) {
        check(out[i], sum_of(round + repeat, world.pes, i), wrong);
      }
    }
    fill(round + 3);
    if (round % 2 == 0) {
      if (!grid.all_reduce(x, y, count)) return;
      for (uint64_t i = threadIdx.x; i < count; i += blockDim.x) {
        check(y[i], sum_of(round + 3, world.pes, i), wrong);
      }
    } else {
      if (!grid.all_gather(x, y, count)) return;
      for (uint64_t i = threadIdx.x; i < count * world.pes; i += blockDim.x) {
        check(y[i], value_of(round + 3, static_cast<int32_t>(i / count), i % count), wrong);
      }
    }
    if (!grid.barrier() || !grid.sync()) return;
  }
}

__global__ void ring_kernel(const __grid_constant__ sparkgap_device_world world,
                            const __grid_constant__ sparkgap_device_buffer data,
                            const __grid_constant__ sparkgap_device_buffer signals, uint32_t bytes, uint32_t rounds,
                            Count* wrong) {
  Block block(world, 7);
  const int32_t next = (world.pe + 1) % world.pes;
  const int32_t before = (world.pe + world.pes - 1) % world.pes;
  // Two parts, so that what is read is not what is written.
  uint8_t* const source = peer_address<uint8_t>(data, world.pe);
  for (uint32_t round = 1; round <= rounds; ++round) {
    for (uint32_t i = threadIdx.x; i < bytes; i += blockDim.x)
      source[i] = static_cast<uint8_t>(round * 3 + world.pe + i);
    block.put_signal(peer_address(data, next, bytes), source, bytes, peer_address<int64_t>(signals, next), round);
    block.signal_add(peer_address<int64_t>(signals, 0, 8), 1);
    if (!block.wait(peer_address<int64_t>(signals, world.pe), SPARKGAP_GE, round)) return;
    for (uint32_t i = threadIdx.x; i < bytes; i += blockDim.x) {
      if (source[bytes + i] != static_cast<uint8_t>(round * 3 + before + i)) atomicAdd(wrong, Count{1});
    }
    if (!block.barrier()) return;
    if (world.pe == 0 && threadIdx.x == 0) {
      const int64_t added = *peer_address<volatile int64_t>(signals, 0, 8);
      if (added != static_cast<int64_t>(round) * world.pes) atomicAdd(wrong, Count{1});
    }
    if (!block.barrier()) return;
  }
}

__global__ void tell_kernel(const __grid_constant__ sparkgap_device_world world, float* x, uint64_t count,
                            uint32_t first_channel, Count* told) {
  Grid grid(world, first_channel);
  // Whoever has been told is told again.
  if (grid.all_reduce(x, x, count) || grid.block().barrier() || grid.sync()) return;
  if (threadIdx.x == 0) atomicAdd_system(told, Count{1});
}

__global__ void await_kernel(const __grid_constant__ sparkgap_device_world world, const int64_t* word, int64_t value,
                             Count* told) {
  if (!wait(world, word, SPARKGAP_EQ, value)) atomicAdd_system(told, Count{1});
}

cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }

}  // namespace

int load() {
  const void* const kernels[] = {reinterpret_cast<const void*>(reduce_kernel<Plain<float>, sparkgap::device::Sum>),
                                 reinterpret_cast<const void*>(reduce_kernel<Bfloat16, sparkgap::device::Sum>),
                                 reinterpret_cast<const void*>(reduce_kernel<Plain<int64_t>, Maximum>),
                                 reinterpret_cast<const void*>(reduce_kernel<Plain<double>, Average>),
                                 reinterpret_cast<const void*>(gather_kernel),
                                 reinterpret_cast<const void*>(mixture_kernel),
                                 reinterpret_cast<const void*>(ring_kernel),
                                 reinterpret_cast<const void*>(tell_kernel),
                                 reinterpret_cast<const void*>(await_kernel)};
  for (const void* kernel : kernels) {
    cudaFuncAttributes attributes;
    const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

int reduce(const sparkgap_device_world& world, void* stream, Sum sum, const void* in, void* out, uint64_t count,
           int blocks) {
  const auto launch = [&](auto kernel) { kernel<<<blocks, kThreads, 0, stream_of(stream)>>>(world, in, out, count); };
  switch (sum) {
    case Sum::kFloats:
      launch(reduce_kernel<Plain<float>, sparkgap::device::Sum>);
      break;
    case Sum::kBfloat16:
      launch(reduce_kernel<Bfloat16, sparkgap::device::Sum>);
      break;
    case Sum::kMostOfLongs:
      launch(reduce_kernel<Plain<int64_t>, Maximum>);
      break;
    case Sum::kMeanOfDoubles:
      launch(reduce_kernel<Plain<double>, Average>);
      break;
  }
  return cudaGetLastError();
}

int gather(const sparkgap_device_world& world, void* stream, const float* in, float* out, uint64_t count, int blocks) {
  gather_kernel<<<blocks, kThreads, 0, stream_of(stream)>>>(world, in, out, count);
  return cudaGetLastError();
}

int mixture(const sparkgap_device_world& world, void* stream, float* x, float* y, uint32_t most, uint32_t rounds,
            int blocks, Count* wrong) {
  mixture_kernel<<<blocks, kThreads, 0, stream_of(stream)>>>(world, x, y, most, rounds, wrong);
  return cudaGetLastError();
}

int ring(const sparkgap_device_world& world, void* stream, const sparkgap_device_buffer& data,
         const sparkgap_device_buffer& signals, uint32_t bytes, uint32_t rounds, Count* wrong) {
  ring_kernel<<<1, kThreads, 0, stream_of(stream)>>>(world, data, signals, bytes, rounds, wrong);
  return cudaGetLastError();
}

int tell(const sparkgap_device_world& world, void* stream, float* x, uint64_t count, int blocks, uint32_t first_channel,
         Count* told) {
  tell_kernel<<<blocks, kThreads, 0, stream_of(stream)>>>(world, x, count, first_channel, told);
  return cudaGetLastError();
}

int await(const sparkgap_device_world& world, void* stream, const int64_t* word, int64_t value, Count* told) {
  await_kernel<<<1, 1, 0, stream_of(stream)>>>(world, word, value, told);
  return cudaGetLastError();
}

}  // namespace stranger
