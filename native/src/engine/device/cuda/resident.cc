#include "engine/device/cuda/resident.h"

#include <time.h>

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "cuda/capture.h"

namespace sparkgap {
namespace {

using kernels::kResidentBytes;
using kernels::Packet;

// How long end() waits beyond the deadline of a call that the kernel may be in.
constexpr int64_t kPatienceUs = 2000000;
// It mostly takes some microseconds.
constexpr int64_t kSpinUs = 50;
constexpr long kPauseNs = 20000;

// An error is as good as a capture.
bool may_be_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) == cudaSuccess) return status != cudaStreamCaptureStatusNone;
  cudaGetLastError();
  return true;
}

// Either half of a packet is one store, and one load.
void store_packet(Packet& packet, uint64_t word, uint32_t number) {
  auto* const halves = reinterpret_cast<uint64_t*>(&packet);
  const uint64_t flag = static_cast<uint64_t>(number) << 32;
  __atomic_store_n(&halves[0], flag | (word & 0xffffffff), __ATOMIC_RELAXED);
  __atomic_store_n(&halves[1], flag | word >> 32, __ATOMIC_RELAXED);
}

bool load_packet(const Packet& packet, uint32_t number, uint64_t* word) {
  const auto* const halves = reinterpret_cast<const uint64_t*>(&packet);
  const uint64_t low = __atomic_load_n(&halves[0], __ATOMIC_RELAXED);
  const uint64_t high = __atomic_load_n(&halves[1], __ATOMIC_RELAXED);
  *word = (low & 0xffffffff) | high << 32;
  return low >> 32 == number && high >> 32 == number;
}

}  // namespace

Resident::Resident(const kernels::KernelWorld& world, int32_t idle_ms)
    : world_(world),
      idle_ms_(idle_ms),
      memory_(sizeof(kernels::ResidentBoard)),
      board_(*memory_.at<kernels::ResidentBoard>()) {
  check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
}

Resident::~Resident() {
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

bool Resident::takes(const CollectiveCall& call, MemoryMap& memory, cudaStream_t stream) const {
  if (call.algorithm != Algorithm::kPackets || world_.place.step != 0) return false;
  const Collective& what = description_of(call);
  const bool reads = is_used(what.in, world_.pe, call.root);
  const bool writes = is_used(what.out, world_.pe, call.root);
  // Not is_used: the message of another PE, too, has to find room in the block.
  if (std::max(array_bytes(call, what.in, world_.pes), array_bytes(call, what.out, world_.pes)) > kResidentBytes) {
    return false;
  }
  if (reads && memory.is_device(call.in)) return false;
  if (writes && !(reads && call.in == call.out) && memory.is_device(call.out)) return false;
  // It is refused there.
  if (is_capturing(stream)) return false;
  return !others_ || cudaStreamQuery(stream) == cudaSuccess;
}

bool Resident::ring(const CollectiveCall& call, MemoryMap& memory, cudaStream_t stream) {
  if (!takes(call, memory, stream)) return false;
  const Collective& what = description_of(call);
  const uint64_t read = is_used(what.in, world_.pe, call.root) ? array_bytes(call, what.in, world_.pes) : 0;
  out_ = call.out;
  out_bytes_ = is_used(what.out, world_.pe, call.root) ? array_bytes(call, what.out, world_.pes) : 0;
  kernels::ResidentCommand command = kernels::resident_command(world_, call, read, out_bytes_);
  if (!others_) command.flags |= kernels::kResidentIsNext;
  others_ = captured_;
  answers_ = std::max(1u, command.out_words);
  taken_ = 0;
  write(command, call.in, read);
  rung_ = true;
  launch_unless_there();
  return true;
}

void Resident::write(const kernels::ResidentCommand& command, const void* in, uint64_t bytes) {
  number_ = kernels::next_command(number_);
  uint64_t head[kernels::kResidentHeadWords];
  std::memcpy(head, &command, sizeof head);
  Packet* packet = board_.command;
  for (const uint64_t word : head) store_packet(*packet++, word, number_);
  for (uint64_t at = 0; at < bytes; at += kernels::kWordBytes) {
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const uint8_t*>(in) + at, std::min(bytes - at, kernels::kWordBytes));
    store_packet(*packet++, word, number_);
  }
}

// A command that is there when the kernel starts is taken like any other.
void Resident::launch_unless_there() {
  if (is_there_ && !has_left()) return;
  ++launches_;
  const auto idle_ns = static_cast<uint64_t>(idle_ms_) * 1000000;
  check_cuda(static_cast<cudaError_t>(kernels::launch_resident(world_, stream_, &board_, number_, launches_, idle_ns)),
             "launching the resident kernel");
  is_there_ = true;
}

bool Resident::has_left() const { return __atomic_load_n(&board_.left, __ATOMIC_ACQUIRE) == launches_; }

bool Resident::take_answer() {
  while (taken_ < answers_ && load_packet(board_.answer[taken_], number_, &results_[taken_])) ++taken_;
  return taken_ == answers_;
}

bool Resident::is_answered() {
  if (__builtin_expect(take_answer(), 1)) return true;
  if (!has_left()) return false;
  // It has answered before it left, has given up, or has left without having seen the command.
  if (take_answer() || __atomic_load_n(&world_.record->end, __ATOMIC_ACQUIRE) != 0) return true;
  launch_unless_there();
  return false;
}

bool Resident::finish() {
  if (!rung_) return false;
  rung_ = false;
  if (out_bytes_ > 0) std::memcpy(out_, results_, out_bytes_);
  return true;
}

void Resident::expect_call(const CollectiveCall& call, cudaStream_t stream) {
  others_ = true;
  captured_ = captured_ || (world_.place.step == 0 && may_be_captured(stream));
  const size_t way = static_cast<size_t>(call.collective) * kAlgorithms + static_cast<size_t>(call.algorithm);
  expect_kind((way * SPARKGAP_TYPES + static_cast<size_t>(call.type)) * SPARKGAP_OPS + static_cast<size_t>(call.op));
}

void Resident::expect_rows(int32_t operation, cudaStream_t stream) {
  others_ = true;
  captured_ = captured_ || (world_.place.step == 0 && may_be_captured(stream));
  expect_kernel(operation);
}

void Resident::expect_kind(size_t kind) {
  if (loaded_[kind]) return;
  loaded_[kind] = true;
  end();
}

bool Resident::end() {
  if (!is_there_) return true;
  // One that is in a call that has failed leaves by itself, at the latest at the deadline.
  if (!rung_) {
    kernels::ResidentCommand stop = {};
    stop.flags = kernels::kResidentStops;
    write(stop, nullptr, 0);
  }
  // No call of CUDA's as long as all goes well: the thread may be capturing another stream.
  const int64_t start = now_us();
  while (!has_left()) {
    const int64_t waited_us = now_us() - start;
    if (waited_us > static_cast<int64_t>(world_.deadline_ns / 1000) + kPatienceUs) return false;
    if (waited_us < kSpinUs) continue;
    const timespec pause = {0, kPauseNs};
    nanosleep(&pause, nullptr);
    if (waited_us > kPatienceUs / 2 && cudaStreamQuery(stream_) != cudaErrorNotReady) break;
  }
  is_there_ = false;
  rung_ = false;
  return true;
}

}  // namespace sparkgap
