// NCCL, looked up at run time. Any number of worlds may use it.
#ifndef SPARKGAP_PROVIDER_NCCL_NCCL_LIBRARY_H
#define SPARKGAP_PROVIDER_NCCL_NCCL_LIBRARY_H

#include <nccl.h>

#include <string>

#include "cuda/shared_library.h"

namespace sparkgap {

// What is used of libnccl.so.2. The types are those of the headers that this is built with; NCCL takes older ones.
struct NcclFunctions {
  decltype(&ncclGetVersion) get_version;
  decltype(&ncclGetUniqueId) get_unique_id;
  decltype(&ncclCommInitRankConfig) init_rank_config;
  decltype(&ncclCommGetAsyncError) get_async_error;
  decltype(&ncclCommSplit) split;
  decltype(&ncclCommFinalize) finalize;
  decltype(&ncclCommDestroy) destroy;
  decltype(&ncclCommAbort) abort;
  decltype(&ncclGetErrorString) error_string;
  decltype(&ncclGetLastError) last_error;
  decltype(&ncclGroupStart) group_start;
  decltype(&ncclGroupEnd) group_end;
  decltype(&ncclSend) send;
  decltype(&ncclRecv) receive;
  decltype(&ncclAllReduce) all_reduce;
  decltype(&ncclReduceScatter) reduce_scatter;
  decltype(&ncclAllGather) all_gather;
  decltype(&ncclBroadcast) broadcast;
  decltype(&ncclReduce) reduce;
  decltype(&ncclMemAlloc) memory_alloc;
  decltype(&ncclMemFree) memory_free;
  decltype(&ncclCommWindowRegister) window_register;
  decltype(&ncclCommWindowDeregister) window_deregister;
  // Of NCCL 2.29 and newer; nullptr before.
  ncclResult_t (*peer_pointer)(ncclWindow_t, size_t, int, void**);
};

class NcclLibrary {
 public:
  // Throws UNAVAILABLE if there is none, or none that fits.
  explicit NcclLibrary(const std::string& given);

  const NcclFunctions& functions() const { return functions_; }
  const std::string& path() const { return library_.path(); }
  int version() const { return version_; }  // major * 10000 + minor * 100 + patch

 private:
  SharedLibrary library_;
  NcclFunctions functions_ = {};
  int version_ = 0;
};

}  // namespace sparkgap

#endif  // SPARKGAP_PROVIDER_NCCL_NCCL_LIBRARY_H
