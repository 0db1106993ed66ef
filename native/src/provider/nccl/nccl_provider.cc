#include "provider/nccl/nccl_provider.h"

#include <dirent.h>
#include <strings.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "base/clock.h"
#include "cuda/capture.h"
#include "cuda/cuda_error.h"
#include "description/types.h"
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

bool is_set_to(const char* variable, const char* value) {
  const char* set = std::getenv(variable);
  return set != nullptr && strcasecmp(set, value) == 0;
}

bool may_use_rdma() { return !is_set_to("NCCL_IB_DISABLE", "1") && !is_set_to("NCCL_NET", "Socket"); }

bool has_rdma_card() {
  const std::unique_ptr<DIR, int (*)(DIR*)> cards(opendir("/sys/class/infiniband"), closedir);
  if (cards == nullptr) return false;
  for (const dirent* entry = readdir(cards.get()); entry != nullptr; entry = readdir(cards.get())) {
    if (entry->d_name[0] != '.') return true;
  }
  return false;
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

void set_nccl_environment(const DeviceNetwork& network) {
  // Its bootstrap and its sockets believe whoever knows the unique id, so they listen where the wire does.
  setenv("NCCL_SOCKET_IFNAME", (std::string("=") + network.interface).c_str(), 0);
  setenv("NCCL_SOCKET_FAMILY", network.is_ipv6 ? "AF_INET6" : "AF_INET", 0);
  // PEs that are on one node for us are on one for NCCL, and no others.
  setenv("NCCL_HOSTID", network.host_id, 0);
  if (network.tcp_only) setenv("NCCL_IB_DISABLE", "1", 0);
  setenv("NCCL_NVLS_ENABLE", "0", 1);
}

NcclProvider::NcclProvider(const DeviceWorldOptions& options)
    : DeviceProvider(options),
      library_(options.library),
      form_(library_.functions().peer_pointer != nullptr && !options.spans_nodes() ? NcclMemoryForm::kWindows
                                                                                   : NcclMemoryForm::kIpc) {
  // Beside NVSHMEM it is made on a thread of its own, beside which others may be reading the environment.
  if (!options.is_beside) set_nccl_environment(options.network);
}

bool NcclProvider::reaches_by_rdma() const { return may_use_rdma() && has_rdma_card(); }

NcclProvider::~NcclProvider() {
  abort();
  if (working_ != nullptr) nccl().abort(working_);
}

void NcclProvider::make_unique_id(uint8_t* id) {
  static_assert(sizeof(ncclUniqueId) == sizeof(DeviceCard::unique_id), "a card must hold the id");
  ncclUniqueId made;
  if (const ncclResult_t result = nccl().get_unique_id(&made); result != ncclSuccess) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe, "NCCL (%s) gave no unique id: %s. NCCL_DEBUG=INFO tells more",
         library_.path().c_str(), nccl().error_string(result));
  }
  std::memcpy(id, &made, sizeof made);
}

void NcclProvider::start(const DeviceCard* cards) {
  ncclUniqueId id;
  std::memcpy(&id, cards[0].unique_id, sizeof id);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  const bool carries_calls = options_.spans_nodes() || options_.is_beside;
  config.splitShare = carries_calls ? 1 : 0;
  ncclResult_t result;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    result = aborted_.load(std::memory_order_acquire)
                 ? ncclInvalidUsage
                 : nccl().init_rank_config(&communicator_, options_.pes, id, options_.pe, &config);
  }
  settle("was initialising", result);
  // Not when a barrier first needs it: that may be one that a step records.
  word_.reserve(sizeof(int32_t));
  if (carries_calls) split();
}

void NcclProvider::split() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  const ncclResult_t result =
      start_call([&](ncclComm_t communicator) { return nccl().split(communicator, 0, options_.pe, &split_, &config); });
  // It says success when it has begun.
  settle("was splitting its communicator", result == ncclSuccess ? ncclInProgress : result);
  working_ = split_;
}

void NcclProvider::settle(const char* what, ncclResult_t result) {
  int64_t start = 0;
  for (int spins = 0; result == ncclInProgress; ++spins) {
    if (start == 0) start = now_us();
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
  check_deadline(now_us(), what);  // an aborted communicator complains, too
  fail(SPARKGAP_INTERNAL, kNoPe, "NCCL (%s) failed when it %s: %s. NCCL_DEBUG=INFO tells more", library_.path().c_str(),
       what, nccl().error_string(result));
}

bool NcclProvider::fall_back() {
  if (form_ == NcclMemoryForm::kOwnOnly) return false;
  form_ = form_ == NcclMemoryForm::kWindows ? NcclMemoryForm::kIpc : NcclMemoryForm::kOwnOnly;
  return true;
}

std::unique_ptr<ProviderMemory> NcclProvider::make_memory(uint64_t bytes, DeviceOffer* offer) {
  switch (form_) {
    case NcclMemoryForm::kWindows:
      return make_window_memory(*this, bytes);
    case NcclMemoryForm::kIpc:
      return make_ipc_memory(*this, bytes, offer);
    default:
      return make_own_memory(*this, bytes);
  }
}

void NcclProvider::enqueue_default(const CollectiveCall& made, cudaStream_t stream) {
  const ncclDataType_t type = nccl_type(made.type);
  const ncclRedOp_t op = nccl_op(made.op);
  const NcclFunctions& functions = nccl();
  switch (made.collective) {
    case SPARKGAP_ALL_TO_ALL:
    case SPARKGAP_ALL_TO_ALLV:
      return send_blocks(made, stream);
    default:
      break;
  }
  call("was enqueuing a collective", [&](ncclComm_t communicator) {
    switch (made.collective) {
      case SPARKGAP_ALL_REDUCE:
        return functions.all_reduce(made.in, made.out, made.count, type, op, communicator, stream);
      case SPARKGAP_REDUCE_SCATTER:
        return functions.reduce_scatter(made.in, made.out, made.count, type, op, communicator, stream);
      case SPARKGAP_ALL_GATHER:
        return functions.all_gather(made.in, made.out, made.count, type, communicator, stream);
      case SPARKGAP_BROADCAST: {
        // NCCL wants an address of the GPU on every PE, though it reads the root's only.
        const void* in = made.root == options_.pe ? made.in : made.out;
        return functions.broadcast(in, made.out, made.count, type, made.root, communicator, stream);
      }
      case SPARKGAP_REDUCE: {
        void* out = made.root == options_.pe ? made.out : nullptr;
        return functions.reduce(made.in, out, made.count, type, op, made.root, communicator, stream);
      }
      default: {
        void* word = word_.reserve(sizeof(int32_t));
        return functions.all_reduce(word, word, 1, ncclInt32, ncclSum, communicator, stream);
      }
    }
  });
}

// allToAll and allToAllv: a send to and a receive from each PE, as one.
void NcclProvider::send_blocks(const CollectiveCall& made, cudaStream_t stream) {
  const uint64_t element = element_bytes(made.type);
  const bool even = made.collective == SPARKGAP_ALL_TO_ALL;
  const auto count = [&](const uint64_t* counts, int32_t pe) { return even ? made.count : counts[pe]; };
  const auto offset = [&](const uint64_t* offsets, int32_t pe) {
    return (even ? static_cast<uint64_t>(pe) * made.count : offsets[pe]) * element;
  };
  const uint8_t* in = static_cast<const uint8_t*>(made.in);
  uint8_t* out = static_cast<uint8_t*>(made.out);
  if (in == out) {
    // A block may be received before the one in its place has been sent: send from a copy.
    uint64_t bytes = 0;
    for (int32_t pe = 0; pe < options_.pes; ++pe) {
      // Where an empty block would be there may be nothing.
      const uint64_t sent = count(made.send_counts, pe) * element;
      if (sent > 0) bytes = std::max(bytes, offset(made.send_offsets, pe) + sent);
    }
    if (bytes > 0) {
      refuse_if_capturing(stream, "an allToAll in place, which goes through a copy where NCCL makes it,");
      void* copy = spare_.reserve(bytes);
      check_cuda(cudaMemcpyAsync(copy, in, bytes, cudaMemcpyDeviceToDevice, stream), "copying an allToAll in place");
      in = static_cast<const uint8_t*>(copy);
    }
  }
  const ncclDataType_t type = nccl_type(made.type);
  const NcclFunctions& functions = nccl();
  call("was enqueuing an allToAll", [&](ncclComm_t communicator) {
    ncclResult_t result = functions.group_start();
    for (int32_t pe = 0; pe < options_.pes && (result == ncclSuccess || result == ncclInProgress); ++pe) {
      const uint64_t sent = count(made.send_counts, pe);
      const uint64_t received = count(made.receive_counts, pe);
      if (sent > 0) {
        result = functions.send(in + offset(made.send_offsets, pe), sent, type, pe, communicator, stream);
      }
      if (received > 0 && (result == ncclSuccess || result == ncclInProgress)) {
        result = functions.receive(out + offset(made.receive_offsets, pe), received, type, pe, communicator, stream);
      }
    }
    const ncclResult_t ended = functions.group_end();
    return result == ncclSuccess || result == ncclInProgress ? ended : result;
  });
}

void NcclProvider::check() {
  if (working_ == nullptr || aborted_.load(std::memory_order_acquire)) return;
  ncclResult_t state = ncclSuccess;
  const ncclResult_t asked = nccl().get_async_error(working_, &state);
  const ncclResult_t result = asked == ncclSuccess ? state : asked;
  if (result != ncclSuccess && result != ncclInProgress) settle("was at work", result);
}

int64_t NcclProvider::inside_us() const {
  const int64_t since = inside_since_us_.load(std::memory_order_relaxed);
  return since == 0 ? 0 : now_us() - since;
}

void NcclProvider::abort() {
  aborted_.store(true, std::memory_order_release);
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

void NcclProvider::stop(bool together, const char*) {
  begin_stop();
  Failure failure;
  const auto finalize = [&](ncclComm_t communicator) { return nccl().finalize(communicator); };
  // Takes the connections down in order; without it ncclCommDestroy of a non-blocking communicator may not return.
  if (together && guarded(&failure, [&] { call("was ending", finalize); }) == SPARKGAP_OK) {
    if (working_ != nullptr) {
      nccl().destroy(working_);
      working_ = nullptr;
      together = guarded(&failure, [&] { call("was ending", finalize); }) == SPARKGAP_OK;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    if (together && communicator_ != nullptr) {
      nccl().destroy(communicator_);
      communicator_ = nullptr;
    }
  }
  abort();
}

}  // namespace sparkgap
