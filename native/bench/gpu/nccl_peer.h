// What the benchmark needs of NCCL, loaded at run time: it is a peer to be measured, not a part of the product.
#ifndef SPARKGAP_BENCH_GPU_NCCL_PEER_H
#define SPARKGAP_BENCH_GPU_NCCL_PEER_H

#include <dlfcn.h>
#include <nccl.h>

#include <memory>
#include <string>

#include "support/check.h"

namespace sparkgap::bench {

struct Nccl {
  decltype(&::ncclGetVersion) version;
  decltype(&::ncclGetUniqueId) unique_id;
  decltype(&::ncclCommInitRank) init;
  decltype(&::ncclCommDestroy) destroy;
  decltype(&::ncclAllReduce) all_reduce;
  decltype(&::ncclMemAlloc) allocate;
  decltype(&::ncclCommWindowRegister) register_window;
  decltype(&::ncclGetErrorString) error_string;

  // nullptr if the library is not there.
  static std::unique_ptr<Nccl> load(const char* path) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    auto nccl = std::make_unique<Nccl>();
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
      test::expect(function != nullptr, "%s has no %s", path, name);
    };
    find(nccl->version, "ncclGetVersion");
    find(nccl->unique_id, "ncclGetUniqueId");
    find(nccl->init, "ncclCommInitRank");
    find(nccl->destroy, "ncclCommDestroy");
    find(nccl->all_reduce, "ncclAllReduce");
    find(nccl->allocate, "ncclMemAlloc");
    find(nccl->register_window, "ncclCommWindowRegister");
    find(nccl->error_string, "ncclGetErrorString");
    return nccl;
  }

  void ok(ncclResult_t result, const char* what) const {
    test::expect(result == ncclSuccess, "%s: %s", what, error_string(result));
  }
};

}  // namespace sparkgap::bench
#endif  // SPARKGAP_BENCH_GPU_NCCL_PEER_H
