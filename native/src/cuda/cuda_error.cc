#include "cuda/cuda_error.h"

namespace sparkgap {
namespace {

sparkgap_status status_of(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return SPARKGAP_OUT_OF_MEMORY;
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorDevicesUnavailable:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
    case cudaErrorInitializationError:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorMpsConnectionFailed:
    case cudaErrorMpsRpcFailure:
    case cudaErrorMpsServerNotReady:
    case cudaErrorMpsMaxClientsReached:
    case cudaErrorMpsMaxConnectionsReached:
    case cudaErrorPeerAccessUnsupported:
      return SPARKGAP_UNAVAILABLE;
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
    case cudaErrorUnknown:
      return SPARKGAP_DEVICE_FAILED;
    default:
      return SPARKGAP_INTERNAL;
  }
}

}  // namespace

void fail_cuda(cudaError_t error, const char* what) {
  cudaGetLastError();  // so that it does not show up again in a later call
  const sparkgap_status status = status_of(error);
  fail(status, kNoPe, "%s failed: CUDA error %d, %s (%s)%s", what, static_cast<int>(error), cudaGetErrorName(error),
       cudaGetErrorString(error),
       status == SPARKGAP_DEVICE_FAILED
           ? ". The error stays with the process, which can use no GPU any more and must be replaced"
           : "");
}

}  // namespace sparkgap
