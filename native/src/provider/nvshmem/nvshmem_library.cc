#include "provider/nvshmem/nvshmem_library.h"

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/version.h"
#include "cuda/cuda_error.h"
#include "provider/device/device_provider.h"

namespace sparkgap {
namespace {

// The headers that this is built with, and what their structs are good for: the same major, the same minor or newer.
constexpr int kOldest = 30400;
constexpr int kTooNew = 40000;

// Between looks at the deadline while a job runs.
constexpr std::chrono::milliseconds kLook{2};

// What NVSHMEM reads at its first call. A world is on one host: no transport between hosts, and a bootstrap that
// listens on the loopback interface only, since it has no authentication. Whoever sets one of these keeps it.
void set_environment() {
  setenv("NVSHMEM_REMOTE_TRANSPORT", "none", 0);
  setenv("NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", "lo", 0);
  setenv("NVSHMEM_DISABLE_NCCL", "1", 0);
  // Multicast over NVLink is never used by our kernels, and a process that dies in the middle of it can take the
  // switch's state along.
  setenv("NVSHMEM_DISABLE_NVLS", "1", 1);
}

}  // namespace

NvshmemLibrary& NvshmemLibrary::get(const std::string& given) {
  static std::mutex mutex;
  static NvshmemLibrary* library = nullptr;  // never destroyed: its thread may be stuck in it
  const std::lock_guard<std::mutex> lock(mutex);
  if (library == nullptr) library = new NvshmemLibrary(given);
  if (!given.empty() && given != library->path()) {
    const SharedLibrary other = SharedLibrary::find(kNvshmemLibrary, given);
    if (other.path() != library->path()) {
      fail(SPARKGAP_UNAVAILABLE, kNoPe, "this process has NVSHMEM from %s already, and cannot have that of %s, too",
           library->path().c_str(), given.c_str());
    }
  }
  const std::lock_guard<std::mutex> state(library->mutex_);
  if (!library->unusable_.empty()) {
    fail(SPARKGAP_DEVICE_FAILED, kNoPe,
         "NVSHMEM (%s) cannot be used in this process any more: %s. It can neither be aborted nor ended alone; the "
         "process "
         "must be replaced",
         library->path().c_str(), library->unusable_.c_str());
  }
  return *library;
}

NvshmemLibrary::NvshmemLibrary(const std::string& given) : library_(SharedLibrary::find(kNvshmemLibrary, given)) {
  library_.require("nvshmemx_get_uniqueid", &functions_.get_uniqueid);
  library_.require("nvshmemx_set_attr_uniqueid_args", &functions_.set_attr_uniqueid_args);
  library_.require("nvshmemx_hostlib_init_attr", &functions_.init_attr);
  library_.require("nvshmemx_init_status", &functions_.init_status);
  library_.require("nvshmemx_hostlib_finalize", &functions_.finalize);
  library_.require("nvshmemx_vendor_get_version_info", &functions_.version_info);
  library_.require("nvshmem_align", &functions_.align);
  library_.require("nvshmem_free", &functions_.free);
  library_.require("nvshmem_ptr", &functions_.ptr);
  set_environment();
  int major = 0;
  int minor = 0;
  int patch = 0;
  functions_.version_info(&major, &minor, &patch);
  version_ = major * 10000 + minor * 100 + patch;
  if (version_ >= kOldest && version_ < kTooNew) return;
  fail(SPARKGAP_UNAVAILABLE, kNoPe, "NVSHMEM %s (%s) does not fit: 3.4 or a newer 3 is needed. %s names another",
       version_text(version_).c_str(), path().c_str(), kNvshmemLibrary.key);
}

void NvshmemLibrary::run(const DeviceProvider& provider, const char* what, std::function<void()> job) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!unusable_.empty()) fail(SPARKGAP_DEVICE_FAILED, kNoPe, "NVSHMEM cannot be used: %s", unusable_.c_str());
  }
  std::packaged_task<void()> task([device = provider.options().device, job = std::move(job)] {
    check_cuda(cudaSetDevice(device), "making the world's GPU current on NVSHMEM's thread");
    job();
  });
  std::future<void> done = task.get_future();
  const int64_t start = now_us();
  std::thread(std::move(task)).detach();
  while (done.wait_for(kLook) != std::future_status::ready) {
    try {
      provider.check_deadline(start, what);
    } catch (const Failure& failure) {
      give_up(failure.message);
      throw;
    }
  }
  done.get();
}

void NvshmemLibrary::give_up(const std::string& reason) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (unusable_.empty()) unusable_ = reason;
}

}  // namespace sparkgap
