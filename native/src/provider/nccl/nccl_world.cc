#include "provider/nccl/nccl_world.h"

#include <time.h>

#include <algorithm>
#include <cstring>

#include "device/cuda_error.h"
#include "device/element_bytes.h"
#include "provider/nccl/nccl_memory.h"

namespace sparkgap {
namespace {

constexpr int kSpins = 1000;
constexpr long kPauseNs = 50000;

ncclDataType_t nccl_type(int32_t type) {
  switch (type) {
    case SPARKGAP_FLOAT32:
      return ncclFloat32;
    case SPARKGAP_FLOAT64:
      return ncclFloat64;
    case SPARKGAP_FLOAT16:
      return ncclFloat16;
    case SPARKGAP_BFLOAT16:
      return ncclBfloat16;
    case SPARKGAP_INT8:
      return ncclInt8;
    case SPARKGAP_UINT8:
      return ncclUint8;
    case SPARKGAP_INT32:
      return ncclInt32;
    default:
      return ncclInt64;
  }
}

ncclRedOp_t nccl_op(int32_t op) {
  switch (op) {
    case SPARKGAP_PROD:
      return ncclProd;
    case SPARKGAP_MIN:
      return ncclMin;
    case SPARKGAP_MAX:
      return ncclMax;
    case SPARKGAP_AVG:
      return ncclAvg;
    default:
      return ncclSum;
  }
}

}  // namespace

NcclWorld::NcclWorld(const DeviceWorldOptions& options, const sparkgap_device_info& info)
    : CudaWorld(options, info),
      library_(options.library),
      form_(library_.functions().peer_pointer != nullptr ? NcclMemoryForm::kWindows : NcclMemoryForm::kIpc) {}

NcclWorld::~NcclWorld() { abort(); }

void NcclWorld::make_unique_id(uint8_t* id) {
  static_assert(sizeof(ncclUniqueId) == sizeof(DeviceCard::unique_id), "a card must hold the id");
  ncclUniqueId made;
  if (const ncclResult_t result = nccl().get_unique_id(&made); result != ncclSuccess) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe, "NCCL (%s) gave no unique id: %s. NCCL_DEBUG=INFO tells more",
         library_.path().c_str(), nccl().error_string(result));
  }
  std::memcpy(id, &made, sizeof made);
}

void NcclWorld::start_provider(const DeviceCard* cards) {
  ncclUniqueId id;
  std::memcpy(&id, cards[0].unique_id, sizeof id);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclResult_t result;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    result = nccl().init_rank_config(&communicator_, options_.pes, id, options_.pe, &config);
  }
  settle("was initialising", result);
}

void NcclWorld::settle(const char* what, ncclResult_t result) {
  int64_t start = 0;
  for (int spins = 0; result == ncclInProgress; ++spins) {
    if (start == 0) start = monotonic_us();
    check_deadline(start, what);
    if (spins > kSpins) {
      const timespec pause = {0, kPauseNs};
      nanosleep(&pause, nullptr);
    }
    ncclResult_t state = ncclInProgress;
    const ncclResult_t asked =
        start_call([&](ncclComm_t communicator) { return nccl().get_async_error(communicator, &state); });
    result = asked == ncclSuccess ? state : asked;
  }
  if (result == ncclSuccess) return;
  check_deadline(monotonic_us(), what);  // an aborted communicator complains, too
  fail(SPARKGAP_INTERNAL, kNoPe, "NCCL (%s) failed when it %s: %s. NCCL_DEBUG=INFO tells more", library_.path().c_str(),
       what, nccl().error_string(result));
}

bool NcclWorld::fall_back() {
  if (form_ == NcclMemoryForm::kOwnOnly) return false;
  form_ = form_ == NcclMemoryForm::kWindows ? NcclMemoryForm::kIpc : NcclMemoryForm::kOwnOnly;
  return true;
}

std::unique_ptr<DeviceMemory> NcclWorld::make_memory(uint64_t bytes, DeviceOffer* offer) {
  switch (form_) {
    case NcclMemoryForm::kWindows:
      return make_window_memory(*this, bytes);
    case NcclMemoryForm::kIpc:
      return make_ipc_memory(*this, bytes, offer);
    default:
      return make_own_memory(*this, bytes);
  }
}

void NcclWorld::enqueue_default(const kernels::KernelCall& kernel_call) {
  const ncclDataType_t type = nccl_type(kernel_call.type);
  const ncclRedOp_t op = nccl_op(kernel_call.op);
  const NcclFunctions& functions = nccl();
  switch (kernel_call.collective) {
    case SPARKGAP_ALL_TO_ALL:
    case SPARKGAP_ALL_TO_ALLV:
      return send_blocks(kernel_call);
    default:
      break;
  }
  call("was enqueuing a collective", [&](ncclComm_t communicator) {
    switch (kernel_call.collective) {
      case SPARKGAP_ALL_REDUCE:
        return functions.all_reduce(kernel_call.in, kernel_call.out, kernel_call.count, type, op, communicator,
                                    stream_);
      case SPARKGAP_REDUCE_SCATTER:
        return functions.reduce_scatter(kernel_call.in, kernel_call.out, kernel_call.count, type, op, communicator,
                                        stream_);
      case SPARKGAP_ALL_GATHER:
        return functions.all_gather(kernel_call.in, kernel_call.out, kernel_call.count, type, communicator, stream_);
      case SPARKGAP_BROADCAST: {
        // NCCL wants an address of the GPU on every PE, though it reads the root's only.
        const void* in = kernel_call.root == options_.pe ? kernel_call.in : kernel_call.out;
        return functions.broadcast(in, kernel_call.out, kernel_call.count, type, kernel_call.root, communicator,
                                   stream_);
      }
      case SPARKGAP_REDUCE: {
        void* out = kernel_call.root == options_.pe ? kernel_call.out : nullptr;
        return functions.reduce(kernel_call.in, out, kernel_call.count, type, op, kernel_call.root, communicator,
                                stream_);
      }
      default: {
        void* word = staging_.device_memory(sizeof(int32_t));
        return functions.all_reduce(word, word, 1, ncclInt32, ncclSum, communicator, stream_);
      }
    }
  });
}

// allToAll and allToAllv: a send to and a receive from each PE, as one.
void NcclWorld::send_blocks(const kernels::KernelCall& kernel_call) {
  const uint64_t element = element_bytes(kernel_call.type);
  const bool even = kernel_call.collective == SPARKGAP_ALL_TO_ALL;
  const auto count = [&](const uint64_t* counts, int32_t pe) { return even ? kernel_call.count : counts[pe]; };
  const auto offset = [&](const uint64_t* offsets, int32_t pe) {
    return (even ? static_cast<uint64_t>(pe) * kernel_call.count : offsets[pe]) * element;
  };
  const uint8_t* in = static_cast<const uint8_t*>(kernel_call.in);
  uint8_t* out = static_cast<uint8_t*>(kernel_call.out);
  if (in == out) {
    // A block may be received before the one in its place has been sent: send from a copy.
    uint64_t bytes = 0;
    for (int32_t pe = 0; pe < options_.pes; ++pe) {
      bytes = std::max(bytes, offset(kernel_call.send_offsets, pe) + count(kernel_call.send_counts, pe) * element);
    }
    if (bytes == 0) bytes = 1;
    void* copy = staging_.device_memory(bytes);
    check_cuda(cudaMemcpyAsync(copy, in, bytes, cudaMemcpyDeviceToDevice, stream_), "copying an allToAll in place");
    in = static_cast<const uint8_t*>(copy);
  }
  const ncclDataType_t type = nccl_type(kernel_call.type);
  const NcclFunctions& functions = nccl();
  call("was enqueuing an allToAll", [&](ncclComm_t communicator) {
    ncclResult_t result = functions.group_start();
    for (int32_t pe = 0; pe < options_.pes && (result == ncclSuccess || result == ncclInProgress); ++pe) {
      const uint64_t sent = count(kernel_call.send_counts, pe);
      const uint64_t received = count(kernel_call.receive_counts, pe);
      if (sent > 0) {
        result = functions.send(in + offset(kernel_call.send_offsets, pe), sent, type, pe, communicator, stream_);
      }
      if (received > 0 && (result == ncclSuccess || result == ncclInProgress)) {
        result =
            functions.receive(out + offset(kernel_call.receive_offsets, pe), received, type, pe, communicator, stream_);
      }
    }
    const ncclResult_t ended = functions.group_end();
    return result == ncclSuccess || result == ncclInProgress ? ended : result;
  });
}

void NcclWorld::abort() {
  ncclComm_t communicator;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    communicator = communicator_;
    communicator_ = nullptr;
  }
  if (communicator == nullptr) return;
  cudaSetDevice(options_.device);
  nccl().abort(communicator);
}

void NcclWorld::stop(bool together, const char*) {
  begin_stop();
  Failure failure;
  if (together) {
    // Takes the connections down in order; without it ncclCommDestroy of a non-blocking communicator may not return.
    const sparkgap_status ended = guarded(
        &failure, [&] { call("was ending", [&](ncclComm_t communicator) { return nccl().finalize(communicator); }); });
    const std::lock_guard<std::mutex> lock(mutex_);
    if (ended == SPARKGAP_OK && communicator_ != nullptr) {
      nccl().destroy(communicator_);
      communicator_ = nullptr;
    }
  }
  abort();
}

}  // namespace sparkgap
