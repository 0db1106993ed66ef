#include "engine/device/cuda/cuda_world.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/version.h"
#include "collective/rows_kernels.h"
#include "cuda/capture.h"
#include "cuda/nvml.h"

namespace sparkgap {
namespace {

// A wait polls the stream for this long, then looks only now and then.
constexpr int64_t kSpinUs = 1000;
constexpr long kPauseNs = 20000;
constexpr int kQueriesBetweenLooks = 16;

class CudaEvent final : public Event {
 public:
  CudaEvent() { check_cuda(cudaEventCreate(&event_), "making an event"); }
  ~CudaEvent() override { cudaEventDestroy(event_); }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

cudaEvent_t cuda_event(Event& event) { return static_cast<CudaEvent&>(event).get(); }

int32_t most_pes_per_device(const DeviceCard* cards, int32_t pes) {
  int32_t most = 1;
  for (int32_t pe = 0; pe < pes; ++pe) {
    const auto same = [&](const DeviceCard& card) { return std::strcmp(card.uuid, cards[pe].uuid) == 0; };
    most = std::max(most, static_cast<int32_t>(std::count_if(cards, cards + pes, same)));
  }
  return most;
}

}  // namespace

// Memory of the provider's; its ranges are known to the world while it lives.
class CudaWorld::Memory final : public DeviceMemory {
 public:
  Memory(CudaWorld& world, std::unique_ptr<ProviderMemory> memory, uint64_t bytes)
      : world_(world), memory_(std::move(memory)), bytes_(bytes), number_(world.allocations_) {}
  ~Memory() override { world_.memory_map_.remove(this); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  sparkgap_status attach(const DeviceOffer* offers, Failure* failure) override {
    return guarded(failure, [&] {
      world_.use_gpu();
      world_.end_resident();
      memory_->map_parts(offers);
      const int32_t pes = world_.options_.near_pes;
      bool reachable = true;
      for (int32_t pe = 0; pe < pes; ++pe) reachable &= part(pe) != nullptr;
      world_.memory_map_.add({this, number_, bytes_, pes, reachable});
    });
  }

  sparkgap_status free_together(Failure* failure) override {
    return guarded(failure, [&] {
      world_.end_resident();
      memory_->free_together();
    });
  }

  void detach() override {
    Failure ignored;
    guarded(&ignored, [&] {
      world_.use_gpu();
      world_.end_resident();
      memory_->close_parts();
    });
  }

  uint8_t* part(int32_t pe) const override { return memory_->part(pe); }

 private:
  CudaWorld& world_;
  const std::unique_ptr<ProviderMemory> memory_;
  const uint64_t bytes_;
  const uint64_t number_;
};

CudaWorld::CudaWorld(const DeviceWorldOptions& options, const sparkgap_device_info& info, MakeProvider* make_provider)
    : only_(options),
      options_(options),
      info_(info),
      provider_(make_provider(options)),
      beside_(options),
      staging_(options.pe, options.pes),
      gpu_(options.device),
      memory_map_(options.device, options.near_pe),
      results_(4096) {
  check_cuda(cudaStreamCreateWithFlags(&own_stream_, cudaStreamNonBlocking), "making a stream");
  check_cuda(cudaEventCreateWithFlags(&order_, cudaEventDisableTiming), "making an event");
  stream_ = own_stream_;
}

CudaWorld::~CudaWorld() {
  cudaSetDevice(options_.device);
  end_resident();
  resident_.reset();
  provider_.reset();
  for (void* memory : given_back_) cudaFree(memory);
  if (control_registered_) cudaHostUnregister(control_.page);
  kernels::destroy_launch_cache(kernel_world_.launches);
  if (order_ != nullptr) cudaEventDestroy(order_);
  if (own_stream_ != nullptr) cudaStreamDestroy(own_stream_);
}

sparkgap_status CudaWorld::card(DeviceCard* card, Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    Text(card->provider, sizeof card->provider).add("%s", options_.provider);
    std::memcpy(card->uuid, info_.uuid, sizeof card->uuid);
    std::memcpy(card->pci, info_.pci, sizeof card->pci);
    std::memcpy(card->name, info_.name, sizeof card->name);
    Text(card->library, sizeof card->library).add("%s", provider_->library_path().c_str());
    card->multiprocessors = info_.multiprocessors;
    card->max_blocks = options_.max_blocks;
    card->library_version = provider_->library_version();
    card->reaches_by_rdma = provider_->reaches_by_rdma() ? 1 : 0;
    if (options_.pe == 0) provider_->make_unique_id(card->unique_id);
  });
}

sparkgap_status CudaWorld::start(const DeviceCard* cards, const DeviceControl& control, Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    control_ = control;
    check_cuda(cudaHostRegister(control.page, control.page_bytes, cudaHostRegisterMapped),
               "mapping the control segment into the GPU");
    control_registered_ = true;
    void* page = nullptr;
    check_cuda(cudaHostGetDevicePointer(&page, control.page, 0), "mapping the control segment into the GPU");
    const auto offset =
        reinterpret_cast<const uint8_t*>(control.abort_state) - static_cast<const uint8_t*>(control.page);
    kernel_world_.abort_word = reinterpret_cast<const uint32_t*>(static_cast<const uint8_t*>(page) + offset);
    const int64_t begin = now_us();
    provider_->watch(control.abort_state);
    provider_->start(cards);
    provider_start_us_ = now_us() - begin;
  });
}

// Where collectives are the provider's, only what verifies puts.
uint64_t CudaWorld::scratch_bytes() const {
  const auto pes = static_cast<uint64_t>(options_.near_pes);
  return options_.spans_nodes() ? pes * sizeof(uint64_t) : kernels::scratch_bytes(options_.near_pes);
}

sparkgap_status CudaWorld::use_scratch(const DeviceMemory& scratch, const DeviceCard* near, Failure* failure) {
  return guarded(failure, [&] {
    kernel_world_.layout = SPARKGAP_DEVICE_LAYOUT;
    kernel_world_.pe = options_.near_pe;
    kernel_world_.pes = options_.near_pes;
    kernel_world_.deadline_ns = static_cast<uint64_t>(options_.peer_timeout_ms) * 1000000;
    kernel_world_.record = results_.at<kernels::WaitRecord>();
    kernel_world_.exchange_at = kernels::exchange_at(options_.near_pes);
    kernel_world_.compute_major = info_.compute_major;
    const int32_t pes_per_device = most_pes_per_device(near, options_.near_pes);
    check_cuda(static_cast<cudaError_t>(kernels::prepare_kernels()), "loading the kernels");
    check_cuda(static_cast<cudaError_t>(kernels::prepare_rows()), "loading the kernels");
    check_cuda(static_cast<cudaError_t>(kernels::make_launch_cache(info_.compute_major, &kernel_world_.launches)),
               "making graphs to launch");
    int32_t multiprocessors = near[0].multiprocessors;
    bool reachable = !options_.spans_nodes();
    for (int32_t pe = 0; pe < options_.near_pes; ++pe) {
      kernel_world_.scratch[pe] = scratch.part(pe);
      reachable &= scratch.part(pe) != nullptr;
      multiprocessors = std::min(multiprocessors, near[pe].multiprocessors);
    }
    const int32_t most = options_.max_blocks > 0 ? options_.max_blocks : kernels::kMaxLanes;
    const int32_t lanes = kernels::lanes_for(multiprocessors, pes_per_device);
    kernel_world_.lanes = reachable ? std::min(most, lanes) : 0;
    if (reachable && options_.resident_idle_ms > 0) {
      resident_ = std::make_unique<Resident>(kernel_world_, options_.resident_idle_ms);
    }
  });
}

void CudaWorld::find_links(const DeviceCard* near, LinkRow* row) const {
  for (int32_t pe = 0; pe < options_.near_pes; ++pe) {
    const bool shared = std::strcmp(near[pe].uuid, info_.uuid) == 0;
    row->to[pe] = shared ? static_cast<int32_t>(SPARKGAP_LINK_SHM) : Nvml::get().link(info_.pci, near[pe].pci);
    row->lacks_atomics[pe] = !shared && Nvml::get().lacks_atomics(info_.pci, near[pe].pci);
  }
}

sparkgap_status CudaWorld::check_room(uint64_t bytes, Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    size_t free = 0;
    size_t total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "asking for the GPU's free memory");
    if (bytes <= free) return;
    fail(SPARKGAP_OUT_OF_MEMORY, kNoPe,
         "a symmetric buffer needs %llu bytes on each GPU, but %s %s has %llu of %llu free",
         static_cast<unsigned long long>(bytes), info_.name, info_.pci, static_cast<unsigned long long>(free),
         static_cast<unsigned long long>(total));
  });
}

sparkgap_status CudaWorld::allocate(uint64_t bytes, DeviceMemory** memory, DeviceOffer* offer, Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    end_resident();
    ++allocations_;
    *memory = new Memory(*this, provider_->make_memory(bytes, offer), bytes);
  });
}

sparkgap_status CudaWorld::poll(int64_t microseconds, Failure* failure) {
  if (resident_ != nullptr && resident_->is_rung()) {
    return poll_until(microseconds, failure,
                      [this] { return resident_->is_answered() ? cudaSuccess : cudaErrorNotReady; });
  }
  return poll_until(microseconds, failure, [this] { return cudaStreamQuery(stream_); });
}

sparkgap_status CudaWorld::poll(Event& event, int64_t microseconds, Failure* failure) {
  return poll_until(microseconds, failure, [&event] { return cudaEventQuery(cuda_event(event)); });
}

template <class Query>
sparkgap_status CudaWorld::poll_until(int64_t microseconds, Failure* failure, const Query& query) {
  bool done = false;
  const sparkgap_status status = guarded(failure, [&] {
    use_gpu();
    int64_t start = 0;
    for (;;) {
      for (int i = 0; i < kQueriesBetweenLooks; ++i) {
        const cudaError_t state = query();
        done = state == cudaSuccess;
        if (done) return;
        if (state != cudaErrorNotReady) fail_cuda(state, "waiting for the GPU");
      }
      const int64_t now = now_us();
      if (start == 0) start = now;
      if (now - start >= microseconds) return;
      if (now - start < kSpinUs) continue;
      const timespec pause = {0, kPauseNs};
      nanosleep(&pause, nullptr);
    }
  });
  return status == SPARKGAP_OK && !done ? SPARKGAP_TIMED_OUT : status;
}

sparkgap_status CudaWorld::set_stream(void* stream, Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    const auto next = stream == nullptr ? own_stream_ : static_cast<cudaStream_t>(stream);
    if (next == stream_) return;
    const bool old_captured = is_capturing(stream_);
    const bool new_captured = is_capturing(next);
    // What is captured runs when its graph does, where the stream of the graph gives the order.
    if (!old_captured && cudaStreamQuery(stream_) != cudaSuccess) {
      if (new_captured) {
        fail(SPARKGAP_INVALID_ARGUMENT, kNoPe,
             "the world has calls that are not done on its old stream, and a captured graph cannot wait for them: "
             "synchronize before the capture begins");
      }
      check_cuda(cudaEventRecord(order_, stream_), "ordering two streams");
      check_cuda(cudaStreamWaitEvent(next, order_, 0), "ordering two streams");
    }
    stream_ = next;
  });
}

sparkgap_status CudaWorld::make_event(Event** event, Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    *event = new CudaEvent();
  });
}

sparkgap_status CudaWorld::record(Event& event, Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    check_cuda(cudaEventRecord(cuda_event(event), stream_), "recording an event");
  });
}

sparkgap_status CudaWorld::wait(Event& event, Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    check_cuda(cudaStreamWaitEvent(stream_, cuda_event(event), 0), "enqueuing a wait for an event");
  });
}

sparkgap_status CudaWorld::elapsed_us(Event& start, Event& end, double* microseconds, Failure* failure) {
  return guarded(failure, [&] {
    use_gpu();
    float milliseconds = 0;
    const cudaError_t error = cudaEventElapsedTime(&milliseconds, cuda_event(start), cuda_event(end));
    if (error == cudaErrorNotReady || error == cudaErrorInvalidResourceHandle) {
      cudaGetLastError();
      fail(SPARKGAP_INVALID_ARGUMENT, kNoPe, "the events have not both been recorded and reached: synchronize first");
    }
    check_cuda(error, "comparing two events");
    *microseconds = static_cast<double>(milliseconds) * 1000;
  });
}

void CudaWorld::stop(bool together, const char* reason) {
  end_resident();
  provider_->stop(together, reason);
}

void CudaWorld::abandon(const char* reason) { OnlyWorld::allow_no_more(reason); }

sparkgap_status CudaWorld::load_beside(BesideCard* card, Text& told, Failure* failure) {
  return guarded(failure, [&] {
    beside_.load(control_.abort_state, info_.uuid, card);
    told.add("%s", beside_.get()->library_path().c_str());
  });
}

void CudaWorld::describe(Text& text) const {
  const char* product = provider_->product();
  text.add("%s %s (%s) on %s %s %s, driver %s", product, version_text(provider_->library_version()).c_str(),
           provider_->library_path().c_str(), info_.name, info_.pci, info_.uuid, info_.driver);
  if (resident_ != nullptr) {
    text.add(", a resident kernel, launched %llu times", static_cast<unsigned long long>(resident_->launches()));
  } else if (options_.resident_idle_ms > 0) {
    text.add(", no resident kernel, because the GPUs of the PEs do not reach each other");
  }
  if (provider_start_us_ == 0) return;
  text.add(", %s started in %lld ms", product, static_cast<long long>(provider_start_us_ / 1000));
}

}  // namespace sparkgap
