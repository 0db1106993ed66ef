#include "engine/device/cuda/nccl_beside.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "base/digest.h"
#include "cuda/cuda_error.h"

namespace sparkgap {
namespace {

DeviceWorldOptions options_beside(const DeviceWorldOptions& world) {
  DeviceWorldOptions options = world;
  options.provider = "nccl";
  options.library = world.nccl_library;
  options.is_beside = true;
  // It has been given up when the PEs that wait for it would give up the world.
  options.peer_timeout_ms = world.peer_timeout_ms / 2;
  return options;
}

// NCCL takes PEs that share a GPU for a mistake where it takes them for neighbours.
uint64_t place_of(const char* uuid) {
  const char* host = std::getenv("NCCL_HOSTID");
  return Digest().add(std::string(uuid)).add(std::string(host == nullptr ? "" : host)).value();
}

}  // namespace

NcclBeside::NcclBeside(const DeviceWorldOptions& options) : options_(options_beside(options)) {}

void NcclBeside::load(const uint32_t* abort_state, const char* uuid, BesideCard* card) {
  check_cuda(cudaSetDevice(options_.device), "opening the GPU for NCCL");
  // What is captured on the world's thread meanwhile is none of this one's.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  check_cuda(cudaThreadExchangeStreamCaptureMode(&mode), "opening the GPU for NCCL");
  owned_ = std::make_unique<NcclProvider>(options_);
  owned_->watch(abort_state);
  if (options_.pe == 0) owned_->make_unique_id(card->id);
  card->version = owned_->library_version();
  card->place = place_of(uuid);
  provider_.store(owned_.get(), std::memory_order_release);
}

void NcclBeside::start(const uint8_t* id) {
  DeviceCard first = {};
  std::memcpy(first.unique_id, id, sizeof first.unique_id);
  owned_->start(&first);
  started_.store(true, std::memory_order_release);
}

}  // namespace sparkgap
