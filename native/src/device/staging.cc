#include "device/staging.h"

#include <algorithm>
#include <cstring>

#include "device/element_bytes.h"

namespace sparkgap {
namespace {

// The most that goes through pinned memory, for each of in and out.
constexpr uint64_t kPinnedBytes = 1 << 20;

uint8_t* bytes_at(void* address, uint64_t offset) { return static_cast<uint8_t*>(address) + offset; }
const uint8_t* bytes_at(const void* address, uint64_t offset) { return static_cast<const uint8_t*>(address) + offset; }

}  // namespace

Staging::Staging(int32_t pe, int32_t pes) : pe_(pe), pes_(pes), pinned_(2 * kPinnedBytes) {}

Staging::~Staging() {
  for (const Region& region : {in_, out_, spare_}) cudaFree(region.memory);
}

bool Staging::stage(kernels::KernelCall& call, MemoryMap& memory, cudaStream_t stream) {
  const Extent read = read_by(call);
  const Extent written = written_by(call);
  const bool stage_in = read.bytes > 0 && !memory.is_device(call.in);
  const bool stage_out = written.bytes > 0 && !memory.is_device(call.out);
  if (__builtin_expect(!stage_in && !stage_out, 1)) return false;
  user_out_ = nullptr;
  // NCCL copies from and to GPU memory only.
  const uint64_t most_pinned = call.algorithm == Algorithm::kDefault ? 0 : kPinnedBytes;
  if (stage_in) {
    const uint8_t* from = bytes_at(call.in, read.first);
    void* to;
    if (read.bytes <= most_pinned) {
      to = pinned_.at<void>();
      std::memcpy(to, from, read.bytes);
    } else {
      to = reserve(&in_, read.bytes);
      check_cuda(cudaMemcpyAsync(to, from, read.bytes, cudaMemcpyHostToDevice, stream),
                 "copying host memory to the GPU");
    }
    call.in = bytes_at(to, 0) - read.first;
  }
  if (stage_out) {
    out_is_pinned_ = written.bytes <= most_pinned;
    void* to = out_is_pinned_ ? pinned_.at<void>(kPinnedBytes) : reserve(&out_, written.bytes);
    user_out_ = call.out;
    call.out = bytes_at(to, 0) - written.first;
    staged_out_ = static_cast<const uint8_t*>(call.out);
    written_ = written;
    staged_ = call;
  }
  return true;
}

void Staging::finish(cudaStream_t stream) {
  if (user_out_ == nullptr) return;
  if (staged_.collective != SPARKGAP_ALL_TO_ALLV) {
    copy_out(user_out_, staged_out_, written_.bytes, stream);
  } else {
    // Between its blocks `out` is not ours to write.
    const uint64_t element = element_bytes(staged_.type);
    for (int32_t from = 0; from < pes_; ++from) {
      const uint64_t offset = staged_.receive_offsets[from] * element;
      copy_out(bytes_at(user_out_, offset), staged_out_ + offset, staged_.receive_counts[from] * element, stream);
    }
  }
  if (!out_is_pinned_) check_cuda(cudaStreamSynchronize(stream), "copying GPU memory to the host");
  user_out_ = nullptr;
}

void Staging::copy_out(void* to, const void* from, uint64_t bytes, cudaStream_t stream) const {
  if (bytes == 0) return;
  if (out_is_pinned_) {
    std::memcpy(to, from, bytes);
  } else {
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream), "copying GPU memory to the host");
  }
}

Staging::Extent Staging::read_by(const kernels::KernelCall& call) const {
  const uint64_t pes = static_cast<uint64_t>(pes_);
  switch (call.collective) {
    case SPARKGAP_BARRIER:
      return {};
    case SPARKGAP_BROADCAST:
      return {0, call.root == pe_ ? call.count * element_bytes(call.type) : 0};
    case SPARKGAP_REDUCE_SCATTER:
    case SPARKGAP_ALL_TO_ALL:
      return {0, pes * call.count * element_bytes(call.type)};
    case SPARKGAP_ALL_TO_ALLV:
      return extent_of(call.send_counts, call.send_offsets, call.type);
    default:
      return {0, call.count * element_bytes(call.type)};
  }
}

Staging::Extent Staging::written_by(const kernels::KernelCall& call) const {
  const uint64_t pes = static_cast<uint64_t>(pes_);
  switch (call.collective) {
    case SPARKGAP_BARRIER:
      return {};
    case SPARKGAP_REDUCE:
      return {0, call.root == pe_ ? call.count * element_bytes(call.type) : 0};
    case SPARKGAP_ALL_GATHER:
    case SPARKGAP_ALL_TO_ALL:
      return {0, pes * call.count * element_bytes(call.type)};
    case SPARKGAP_ALL_TO_ALLV:
      return extent_of(call.receive_counts, call.receive_offsets, call.type);
    default:
      return {0, call.count * element_bytes(call.type)};
  }
}

Staging::Extent Staging::extent_of(const uint64_t* counts, const uint64_t* offsets, int32_t type) const {
  uint64_t first = UINT64_MAX;
  uint64_t last = 0;
  for (int32_t pe = 0; pe < pes_; ++pe) {
    if (counts[pe] == 0) continue;
    first = std::min(first, offsets[pe]);
    last = std::max(last, offsets[pe] + counts[pe]);
  }
  if (last == 0) return {};
  return {first * element_bytes(type), (last - first) * element_bytes(type)};
}

void* Staging::reserve(Region* region, uint64_t bytes) {
  if (region->bytes >= bytes) return region->memory;
  // Freeing waits for kernels that may still read the old memory.
  cudaFree(region->memory);
  *region = {};
  check_cuda(cudaMalloc(&region->memory, bytes), "allocating GPU memory to stage host memory");
  region->bytes = bytes;
  return region->memory;
}

}  // namespace sparkgap
