// NVSHMEM's host library, looked up at run time, and what this process may still do with it.
//
// NVSHMEM is one thing per process: it reads its environment at the first call, has one set of PEs at a time, ends on
// all PEs together, cannot be aborted, and a call that fails may wait for ever. So what a world asks
// of it, from its start to its end, runs on threads of their own, which the caller waits for with a deadline. Once that
// has passed, or a world has ended without one of its PEs, NVSHMEM is unusable here, and every later world is refused
// with the reason: the process must be replaced.
#ifndef SPARKGAP_PROVIDER_NVSHMEM_NVSHMEM_LIBRARY_H
#define SPARKGAP_PROVIDER_NVSHMEM_NVSHMEM_LIBRARY_H

#include <bootstrap_device_host/nvshmem_uniqueid.h>
#include <device_host/nvshmem_types.h>

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>

#include "cuda/shared_library.h"

namespace sparkgap {

class DeviceProvider;

// The functions of libnvshmem_host.so.3 that are used.
struct NvshmemFunctions {
  int (*get_uniqueid)(nvshmemx_uniqueid_t*);
  int (*set_attr_uniqueid_args)(int, int, const nvshmemx_uniqueid_t*, nvshmemx_init_attr_t*);
  int (*init_attr)(unsigned, nvshmemx_init_attr_t*);
  int (*init_status)();
  void (*finalize)();
  void (*version_info)(int*, int*, int*);
  void* (*align)(size_t, size_t);
  void (*free)(void*);
  void* (*ptr)(const void*, int);
};

class NvshmemLibrary {
 public:
  // The process's one: found and loaded at the first call, with its version checked. Throws UNAVAILABLE if it is not to
  // be had, and where it is another than before; DEVICE_FAILED with the reason if it has become unusable.
  static NvshmemLibrary& get(const std::string& given);

  const NvshmemFunctions& functions() const { return functions_; }
  const std::string& path() const { return library_.path(); }
  int version() const { return version_; }  // major * 10000 + minor * 100 + patch

  // Runs `job` on a new thread, with the world's GPU current, and returns when it is done. What the job throws is
  // thrown here. New, because a CUDA call of NVSHMEM's that fails without harm leaves its error with the thread, where
  // the start of the next world would take it for its own. Once the world is aborted or its deadline passes NVSHMEM is
  // given up and this throws; the job may then still run for ever, so it must own what it uses.
  void run(const DeviceProvider& provider, const char* what, std::function<void()> job);

  // Nothing more is to be done with NVSHMEM in this process.
  void give_up(const std::string& reason);

 private:
  explicit NvshmemLibrary(const std::string& given);

  SharedLibrary library_;
  NvshmemFunctions functions_ = {};
  int version_ = 0;

  std::mutex mutex_;
  std::string unusable_;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_NVSHMEM_NVSHMEM_LIBRARY_H
