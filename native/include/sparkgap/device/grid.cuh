// What all blocks of a kernel do together, with those of the other PEs.
#ifndef SPARKGAP_DEVICE_GRID_CUH
#define SPARKGAP_DEVICE_GRID_CUH

#include "sparkgap/device/block.cuh"
#include "sparkgap/device/meeting.cuh"

namespace sparkgap::device {

// The elements [begin, end) that a block of a grid gives, and gets.
struct Share {
  uint64_t begin;
  uint64_t end;
};

// All blocks of a kernel, in channels first_channel and those after it, one a block.
class Grid {
 public:
  __device__ __forceinline__ explicit Grid(const sparkgap_device_world& world, uint32_t first_channel = 0)
      : blocks_(gridDim.x * gridDim.y * gridDim.z),
        number_(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)),
        first_channel_(first_channel),
        block_(world, first_channel + number_) {}

  // This block by itself, in its channel.
  __device__ Block& block() { return block_; }

  // The blocks of this PE wait for each other: what any of them has written before is seen by all afterwards. False if
  // they do not all come within the deadline, which says that they are not all on the GPU.
  __device__ __forceinline__ bool sync() {
    __syncthreads();
    bool came = block_.fine_;
    if (came && block_.thread_ == 0) {
      came = meet(block_.world_, &block_.state_of(first_channel_)->meeting, blocks_, kInCallersKernel + kWaitBlocks,
                  static_cast<int32_t>(first_channel_));
    }
    return block_.end(came);
  }

  // Which of `count` elements of `bytes` each this block has in the calls below: alike on all PEs.
  __device__ __forceinline__ Share share(uint64_t count, uint32_t bytes) const {
    const uint32_t in_word = bytes < kWordBytes ? kWordBytes / bytes : 1;
    const auto words = static_cast<uint32_t>((count + in_word - 1) / in_word);
    const uint64_t elements = uint64_t{(words + blocks_ - 1) / blocks_} * in_word;
    const uint64_t begin = number_ * elements < count ? number_ * elements : count;
    return {begin, count - begin < elements ? count : begin + elements};
  }

  // As Block's, each block for its share: it reads its share of `in`, which its own threads have written, and writes
  // its share of `out`, which its own threads see afterwards. sync() before and after it makes of that what the whole
  // grid has written and sees. Messages of less than 32 GiB.
  template <class Element, class Operation = Sum>
  __device__ __forceinline__ bool all_reduce_share(const void* in, void* out, uint64_t count) {
    constexpr uint32_t kBytes = sizeof(typename Element::Stored);
    const Share own = share(count, kBytes);
    return block_.all_reduce<Element, Operation>(static_cast<const uint8_t*>(in) + own.begin * kBytes,
                                                 static_cast<uint8_t*>(out) + own.begin * kBytes, own.end - own.begin);
  }
  template <class T, class Operation = Sum>
  __device__ __forceinline__ bool all_reduce_share(const T* in, T* out, uint64_t count) {
    return all_reduce_share<Plain<T>, Operation>(static_cast<const void*>(in), static_cast<void*>(out), count);
  }
  template <class T>
  __device__ __forceinline__ bool all_gather_share(const T* in, T* out, uint64_t count) {
    const Share own = share(count, sizeof(T));
    return block_.gather(reinterpret_cast<const uint8_t*>(in + own.begin), reinterpret_cast<uint8_t*>(out + own.begin),
                         (own.end - own.begin) * sizeof(T), count * sizeof(T));
  }

  // The same between two syncs: `in` is what the grid has written, `out` is seen by all of it.
  template <class Element, class Operation = Sum>
  __device__ __forceinline__ bool all_reduce(const void* in, void* out, uint64_t count) {
    return sync() && all_reduce_share<Element, Operation>(in, out, count) && sync();
  }
  template <class T, class Operation = Sum>
  __device__ __forceinline__ bool all_reduce(const T* in, T* out, uint64_t count) {
    return sync() && all_reduce_share<T, Operation>(in, out, count) && sync();
  }
  template <class T>
  __device__ __forceinline__ bool all_gather(const T* in, T* out, uint64_t count) {
    return sync() && all_gather_share(in, out, count) && sync();
  }

  // All that any block of a PE has written before, and put, is seen by all blocks of all PEs afterwards.
  __device__ __forceinline__ bool barrier() { return sync() && block_.barrier(); }

 private:
  const uint32_t blocks_;
  const uint32_t number_;  // of this block
  const uint32_t first_channel_;
  Block block_;
};

}  // namespace sparkgap::device

#endif  // SPARKGAP_DEVICE_GRID_CUH
