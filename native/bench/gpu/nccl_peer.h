// What the benchmark needs of NCCL, loaded at run time: it is a peer to be measured, not a part of the product.
#ifndef SPARKGAP_BENCH_GPU_NCCL_PEER_H
#define SPARKGAP_BENCH_GPU_NCCL_PEER_H

#include <dlfcn.h>
#include <nccl.h>

#include <memory>

#include "gpu/gpu_pes.h"
#include "support/check.h"

namespace sparkgap::bench {

struct Nccl {
  decltype(&::ncclGetVersion) version;
  decltype(&::ncclGetUniqueId) unique_id;
  decltype(&::ncclCommInitRank) init;
  decltype(&::ncclAllReduce) all_reduce;
  decltype(&::ncclReduce) reduce;
  decltype(&::ncclReduceScatter) reduce_scatter;
  decltype(&::ncclAllGather) all_gather;
  decltype(&::ncclBroadcast) broadcast;
  decltype(&::ncclSend) send;
  decltype(&::ncclRecv) receive;
  decltype(&::ncclGroupStart) group_start;
  decltype(&::ncclGroupEnd) group_end;
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
    find(nccl->all_reduce, "ncclAllReduce");
    find(nccl->reduce, "ncclReduce");
    find(nccl->reduce_scatter, "ncclReduceScatter");
    find(nccl->all_gather, "ncclAllGather");
    find(nccl->broadcast, "ncclBroadcast");
    find(nccl->send, "ncclSend");
    find(nccl->receive, "ncclRecv");
    find(nccl->group_start, "ncclGroupStart");
    find(nccl->group_end, "ncclGroupEnd");
    find(nccl->allocate, "ncclMemAlloc");
    find(nccl->register_window, "ncclCommWindowRegister");
    find(nccl->error_string, "ncclGetErrorString");
    return nccl;
  }

  void ok(ncclResult_t result, const char* what) const {
    test::expect(result == ncclSuccess, "%s: %s", what, error_string(result));
  }
};

// NCCL's communicator of this PE, and symmetric memory of it.
class NcclPeer {
 public:
  NcclPeer(test::GpuPe& pe, const Nccl& nccl, ncclUniqueId& shared_id, uint64_t bytes) : pe_(pe), nccl_(nccl) {
    if (pe.pe() == 0) nccl.ok(nccl.unique_id(&shared_id), "ncclGetUniqueId");
    pe.meet();
    nccl.ok(nccl.init(&communicator_, pe.pes(), shared_id, pe.pe()), "ncclCommInitRank");
    nccl.ok(nccl.allocate(&symmetric_, bytes), "ncclMemAlloc");
    test::cuda_ok(cudaMemset(symmetric_, 0, bytes), "cudaMemset");
    nccl.ok(nccl.register_window(communicator_, symmetric_, bytes, &window_, NCCL_WIN_COLL_SYMMETRIC),
            "ncclCommWindowRegister");
  }

  // nullptr if there is none.
  uint8_t* symmetric() const { return window_ == nullptr ? nullptr : static_cast<uint8_t*>(symmetric_); }

  // Enqueues; `count` elements of float32 as in sparkgap.h.
  void call(int collective, const uint8_t* in, uint8_t* out, uint64_t count) const {
    nccl_.ok(enqueue(collective, in, out, count), "a collective of NCCL");
  }

 private:
  ncclResult_t enqueue(int collective, const uint8_t* in, uint8_t* out, uint64_t count) const {
    switch (collective) {
      case SPARKGAP_ALL_REDUCE:
        return nccl_.all_reduce(in, out, count, ncclFloat32, ncclSum, communicator_, pe_.stream);
      case SPARKGAP_REDUCE:
        return nccl_.reduce(in, out, count, ncclFloat32, ncclSum, 0, communicator_, pe_.stream);
      case SPARKGAP_REDUCE_SCATTER:
        return nccl_.reduce_scatter(in, out, count, ncclFloat32, ncclSum, communicator_, pe_.stream);
      case SPARKGAP_ALL_GATHER:
        return nccl_.all_gather(in, out, count, ncclFloat32, communicator_, pe_.stream);
      case SPARKGAP_BROADCAST:
        return nccl_.broadcast(in, out, count, ncclFloat32, 0, communicator_, pe_.stream);
      default:
        return all_to_all(in, out, count);
    }
  }

  ncclResult_t all_to_all(const uint8_t* in, uint8_t* out, uint64_t count) const {
    ncclResult_t result = nccl_.group_start();
    for (int peer = 0; peer < pe_.pes() && result == ncclSuccess; ++peer) {
      result = nccl_.send(in + peer * count * 4, count, ncclFloat32, peer, communicator_, pe_.stream);
      if (result != ncclSuccess) break;
      result = nccl_.receive(out + peer * count * 4, count, ncclFloat32, peer, communicator_, pe_.stream);
    }
    const ncclResult_t end = nccl_.group_end();
    return result == ncclSuccess ? end : result;
  }

  test::GpuPe& pe_;
  const Nccl& nccl_;
  ncclComm_t communicator_ = nullptr;
  ncclWindow_t window_ = nullptr;
  void* symmetric_ = nullptr;
};

}  // namespace sparkgap::bench
#endif  // SPARKGAP_BENCH_GPU_NCCL_PEER_H
