#include "cublas.h"

#include <dlfcn.h>
#include <library_types.h>

#include <stdexcept>
#include <type_traits>
#include <vector>

namespace product {
namespace {

// cuBLAS keeps these numbers from version to version.
constexpr int kSuccess = 0;
constexpr int kAsItIs = 0;
constexpr int kTransposed = 1;
constexpr int kSumsInFloat = 68;
constexpr int kDefaultAlgorithm = -1;

// What NVIDIA recommends for GPUs of compute capability 9.0. Without memory of its own cuBLAS would allocate while a
// stream is captured.
constexpr size_t kWorkspaceBytes = size_t{32} << 20;

}  // namespace

struct Cublas::Functions {
  int (*create)(void** handle);
  int (*destroy)(void* handle);
  int (*set_stream)(void* handle, cudaStream_t stream);
  int (*set_workspace)(void* handle, void* memory, size_t bytes);
  int (*multiply)(void* handle, int a_as, int b_as, int m, int n, int k, const void* alpha, const void* a,
                  cudaDataType a_type, int a_stride, const void* b, cudaDataType b_type, int b_stride, const void* beta,
                  void* c, cudaDataType c_type, int c_stride, int compute, int algorithm);
  const char* (*status_text)(int status);
};

void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": CUDA says \"" + cudaGetErrorString(error) + "\"");
}

Cublas::~Cublas() {
  if (handle_ != nullptr) functions_->destroy(handle_);
  cudaFree(workspace_);
  delete functions_;
  // The library stays: it has threads and kernels in the process.
}

void Cublas::load(const std::string& path) {
  const std::vector<std::string> names =
      path.empty() ? std::vector<std::string>{"libcublas.so.13", "libcublas.so.12"} : std::vector<std::string>{path};
  std::string tried;
  for (const std::string& name : names) {
    library_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ != nullptr) break;
    tried += std::string(tried.empty() ? "" : "; ") + dlerror();
  }
  if (library_ == nullptr) {
    throw std::runtime_error(
        "cuBLAS 12 or 13 is needed (pip install nvidia-cublas, or nvidia-cublas-cu12), by its path "
        "or on the loader's: " +
        tried);
  }
  functions_ = new Functions;
  const auto find = [&](auto& function, const char* name) {
    void* const found = dlsym(library_, name);
    if (found == nullptr) throw std::runtime_error(std::string("cuBLAS has no ") + name + ": take version 12 or 13");
    function = reinterpret_cast<std::decay_t<decltype(function)>>(found);
  };
  find(functions_->create, "cublasCreate_v2");
  find(functions_->destroy, "cublasDestroy_v2");
  find(functions_->set_stream, "cublasSetStream_v2");
  find(functions_->set_workspace, "cublasSetWorkspace_v2");
  find(functions_->multiply, "cublasGemmEx");
  find(functions_->status_text, "cublasGetStatusString");
}

void Cublas::open() {
  require(cudaMalloc(&workspace_, kWorkspaceBytes), "memory for cuBLAS");
  check(functions_->create(&handle_), "cublasCreate");
}

// cuBLAS has matrices column after column, so there it is product' = right x left'.
void Cublas::multiply(cudaStream_t stream, bool adds, int rows, int columns, int inner, const void* left,
                      const void* right, void* product) {
  const float one = 1;
  const float before = adds ? 1 : 0;
  check(functions_->set_stream(handle_, stream), "cublasSetStream");
  // A new stream takes the memory away.
  check(functions_->set_workspace(handle_, workspace_, kWorkspaceBytes), "cublasSetWorkspace");
  check(
      functions_->multiply(handle_, kTransposed, kAsItIs, columns, rows, inner, &one, right, CUDA_R_16BF, inner, left,
                           CUDA_R_16BF, inner, &before, product, CUDA_R_16BF, columns, kSumsInFloat, kDefaultAlgorithm),
      "cublasGemmEx");
}

void Cublas::check(int status, const char* call) const {
  if (status == kSuccess) return;
  throw std::runtime_error(std::string(call) + " failed: cuBLAS says \"" + functions_->status_text(status) + "\"");
}

}  // namespace product
