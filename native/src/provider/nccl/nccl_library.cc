#include "provider/nccl/nccl_library.h"

#include "base/error.h"
#include "base/version.h"

namespace sparkgap {
namespace {

constexpr int kOldest = 22700;  // the first with symmetric windows
constexpr int kTooNew = 30000;

}  // namespace

NcclLibrary::NcclLibrary(const std::string& given) : library_(SharedLibrary::find(kNcclLibrary, given)) {
  library_.require("ncclGetVersion", &functions_.get_version);
  int code = 0;
  functions_.get_version(&code);
  // 2.28.9 is 22809.
  version_ = code;
  if (code < kOldest || code >= kTooNew) {
    fail(SPARKGAP_UNAVAILABLE, kNoPe, "NCCL %s (%s) does not fit: 2.27 or a newer 2 is needed. %s names another",
         version_text(code).c_str(), path().c_str(), kNcclLibrary.key);
  }
  library_.require("ncclGetUniqueId", &functions_.get_unique_id);
  library_.require("ncclCommInitRankConfig", &functions_.init_rank_config);
  library_.require("ncclCommGetAsyncError", &functions_.get_async_error);
  library_.require("ncclCommSplit", &functions_.split);
  library_.require("ncclCommFinalize", &functions_.finalize);
  library_.require("ncclCommDestroy", &functions_.destroy);
  library_.require("ncclCommAbort", &functions_.abort);
  library_.require("ncclGetErrorString", &functions_.error_string);
  library_.require("ncclGetLastError", &functions_.last_error);
  library_.require("ncclGroupStart", &functions_.group_start);
  library_.require("ncclGroupEnd", &functions_.group_end);
  library_.require("ncclSend", &functions_.send);
  library_.require("ncclRecv", &functions_.receive);
  library_.require("ncclAllReduce", &functions_.all_reduce);
  library_.require("ncclReduceScatter", &functions_.reduce_scatter);
  library_.require("ncclAllGather", &functions_.all_gather);
  library_.require("ncclBroadcast", &functions_.broadcast);
  library_.require("ncclReduce", &functions_.reduce);
  library_.require("ncclMemAlloc", &functions_.memory_alloc);
  library_.require("ncclMemFree", &functions_.memory_free);
  library_.require("ncclCommWindowRegister", &functions_.window_register);
  library_.require("ncclCommWindowDeregister", &functions_.window_deregister);
  functions_.peer_pointer =
      reinterpret_cast<decltype(functions_.peer_pointer)>(library_.symbol("ncclGetPeerDevicePointer"));
}

}  // namespace sparkgap
