#include "engine/device/cuda/staging.h"

#include <algorithm>
#include <cstring>

#include "cuda/capture.h"
#include "description/types.h"

namespace sparkgap {
namespace {

// The most that goes through pinned memory, for each of in and out.
constexpr uint64_t kPinnedBytes = 1 << 20;

uint8_t* bytes_at(void* address, uint64_t offset) { return static_cast<uint8_t*>(address) + offset; }
const uint8_t* bytes_at(const void* address, uint64_t offset) { return static_cast<const uint8_t*>(address) + offset; }

}  // namespace

Staging::Staging(int32_t pe, int32_t pes) : pe_(pe), pes_(pes), pinned_(2 * kPinnedBytes) {}

bool Staging::stage(CollectiveCall& call, MemoryMap& memory, cudaStream_t stream) {
  const Span read = read_by(call);
  const Span written = written_by(call);
  const bool stage_in = read.bytes > 0 && !memory.is_device(call.in);
  const bool stage_out = written.bytes > 0 && !memory.is_device(call.out);
  if (__builtin_expect(!stage_in && !stage_out, 1)) return false;
  refuse_if_capturing(stream,
                      stage_in ? "a collective whose `in` is host memory" : "a collective whose `out` is host memory");
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
      to = in_.reserve(read.bytes);
      check_cuda(cudaMemcpyAsync(to, from, read.bytes, cudaMemcpyHostToDevice, stream),
                 "copying host memory to the GPU");
    }
    call.in = bytes_at(to, 0) - read.first;
  }
  if (stage_out) {
    out_is_pinned_ = written.bytes <= most_pinned;
    void* to = out_is_pinned_ ? pinned_.at<void>(kPinnedBytes) : out_.reserve(written.bytes);
    user_out_ = call.out;
    call.out = bytes_at(to, 0) - written.first;
    staged_out_ = static_cast<const uint8_t*>(call.out);
    written_ = written;
    staged_ = call;
  }
  return true;
}

bool Staging::has_room(const CollectiveCall& call) const {
  const uint64_t most_pinned = call.algorithm == Algorithm::kDefault ? 0 : kPinnedBytes;
  const uint64_t read = read_by(call).bytes;
  const uint64_t written = written_by(call).bytes;
  return (read <= most_pinned || read <= in_.bytes()) && (written <= most_pinned || written <= out_.bytes());
}

void Staging::finish(cudaStream_t stream) {
  if (user_out_ == nullptr) return;
  if (!description_of(staged_).has_tables()) {
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

Staging::Span Staging::read_by(const CollectiveCall& call) const {
  const Array in = description_of(call).in;
  return in.extent == Extent::kTable ? span_of(call.send_counts, call.send_offsets, call.type) : span_of(call, in);
}

Staging::Span Staging::written_by(const CollectiveCall& call) const {
  const Array out = description_of(call).out;
  return out.extent == Extent::kTable ? span_of(call.receive_counts, call.receive_offsets, call.type)
                                      : span_of(call, out);
}

Staging::Span Staging::span_of(const CollectiveCall& call, Array array) const {
  return {0, is_used(array, pe_, call.root) ? array_bytes(call, array, pes_) : 0};
}

Staging::Span Staging::span_of(const uint64_t* counts, const uint64_t* offsets, int32_t type) const {
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

}  // namespace sparkgap
