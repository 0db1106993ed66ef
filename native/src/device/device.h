// The interface between the two libraries: what libsparkgap.so, which has the world and its control segment but no
// CUDA, asks of libsparkgap_cuda.so, which has the kernels, NVSHMEM and NCCL but never talks to a peer's process by
// itself.
//
// Both are always built together and loaded from one folder; kDeviceInterface tells when they were not. Each has a
// C++ library of its own inside, so nothing crosses but plain structs, pointers and virtual calls: no exception, no
// std:: type. A call that fails fills the Failure that it was given and returns its status.
//
// Threads: a DeviceWorld is called by one thread at a time, but for abort(), which any thread may call at any moment.
#ifndef SPARKGAP_DEVICE_DEVICE_H
#define SPARKGAP_DEVICE_DEVICE_H

#include <cstdint>

#include "device/kernels.h"
#include "error.h"
#include "sparkgap/sparkgap.h"

namespace sparkgap {

// Grows with every change of this file or of a file that it includes.
constexpr int32_t kDeviceInterface = 1;

// What every PE writes for the others before the provider starts, and reads of each.
struct DeviceCard {
  char uuid[48];
  char pci[32];
  char name[128];
  char library[256];  // path of the provider's library
  int32_t multiprocessors;
  int32_t library_version;  // major * 10000 + minor * 100 + patch
  uint8_t unique_id[128];   // PE 0: NVSHMEM's or NCCL's
};

// How a PE got on with its part of something that only counts if all PEs succeed.
struct DeviceOffer {
  int32_t status;  // SPARKGAP_OK or what went wrong
  int32_t form;    // how the memory was made: all PEs must have the same (see nccl_memory.h)
  uint8_t handle[128];
  char message[512];
};

// WaitRecord::collective of a waitSignal.
constexpr int32_t kWaitSignal = 200;

struct DeviceWorldOptions {
  int32_t pe;
  int32_t pes;
  uint64_t epoch;
  int64_t peer_timeout_ms;
  int32_t device;
  int32_t device_shared;
  const char* provider;  // "nvshmem" or "nccl"; static
  const char* library;   // "" or the path that the user gave
  // In the control segment: the page-aligned range to map into the GPU, and the abort word in it (protocol/layout.h).
  void* control;
  uint64_t control_bytes;
  const uint32_t* abort_state;
};

// One allocation of the symmetric heap: first made, then attached to once all PEs have made theirs.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // Fills part(pe) for all PEs from what each has offered. Local.
  virtual sparkgap_status attach(const DeviceOffer* offers, Failure* failure) = 0;
  // Where this process and its GPU see `pe`'s part; nullptr if they cannot.
  virtual uint8_t* part(int32_t pe) const = 0;
};

class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
};

// One PE's GPU half of a world.
class DeviceWorld {
 public:
  virtual ~DeviceWorld() = default;

  // Fills this PE's card. PE 0 also makes the unique id.
  virtual sparkgap_status card(DeviceCard* card, Failure* failure) = 0;
  // Collective: starts the provider. `cards` has one of each PE, checked by the caller.
  virtual sparkgap_status start(const DeviceCard* cards, Failure* failure) = 0;
  // All PEs have attached to each other's `scratch` (kernels::scratch_bytes): calls may come. The caller keeps the
  // memory until after the last. `cards`: as in start.
  virtual sparkgap_status use_scratch(const DeviceMemory& scratch, const DeviceCard* cards, Failure* failure) = 0;

  // Collective, bytes > 0, zeroed: the first half of an allocation. *memory is set even where it fails.
  virtual sparkgap_status allocate(uint64_t bytes, DeviceMemory** memory, DeviceOffer* offer, Failure* failure) = 0;

  // `call` as the caller made it and select() decided; place and peer_out are filled here.
  virtual sparkgap_status collective(kernels::KernelCall& call, Failure* failure) = 0;

  // `to` and `from`: device memory of this or another PE's part, or this process's own device or host memory.
  virtual sparkgap_status copy(void* to, const void* from, uint64_t bytes, Failure* failure) = 0;
  virtual sparkgap_status signal(int64_t* word, int64_t value, int32_t signal_op, Failure* failure) = 0;
  // `observed` and `before` may be nullptr; if not, the call returns when the value is there.
  virtual sparkgap_status wait_signal(const int64_t* word, int32_t comparison, int64_t value, int64_t* observed,
                                      Failure* failure) = 0;
  virtual sparkgap_status fetch_add(int64_t* word, int64_t delta, int64_t* before, Failure* failure) = 0;

  // TIMED_OUT after peer_timeout_ms; ABORTED, without a sentence, once the abort word is set and the stream has
  // drained.
  virtual sparkgap_status synchronize(Failure* failure) = 0;

  virtual void* stream() const = 0;
  virtual sparkgap_status set_stream(void* stream, Failure* failure) = 0;
  virtual sparkgap_status make_event(DeviceEvent** event, Failure* failure) = 0;
  virtual sparkgap_status record(DeviceEvent* event, Failure* failure) = 0;
  virtual sparkgap_status wait(DeviceEvent* event, Failure* failure) = 0;
  virtual sparkgap_status synchronize(DeviceEvent* event, Failure* failure) = 0;
  virtual sparkgap_status elapsed_us(DeviceEvent* start, DeviceEvent* end, double* microseconds, Failure* failure) = 0;

  // What this PE's kernels have left; lives as long as the world. `wait_signal` gives up under kWaitSignal.
  virtual const kernels::WaitRecord& wait_record() const = 0;
  // The abort word has been set: ends what does not look at it (NCCL's kernels). Any thread, more than once.
  virtual void abort() = 0;

  // Ends the provider; nothing but the destructor follows. `together`: all other PEs are known to do the same now. If
  // not, a provider that can only end together is left as it is, and `reason` is what later worlds are refused with.
  virtual void stop(bool together, const char* reason) = 0;

  // "NVSHMEM 3.4.5 (/usr/lib/libnvshmem_host.so.3) on NVIDIA H200 0000:19:00.0 GPU-...": for logs.
  virtual void describe(Text& text) const = 0;
};

// What libsparkgap_cuda.so exports, under the name "sparkgap_device_library".
class DeviceLibrary {
 public:
  virtual int32_t interface_number() const = 0;  // first, so that any version can be asked
  virtual sparkgap_status open_device(int32_t ordinal, sparkgap_device_info* info, Failure* failure) = 0;
  virtual sparkgap_status probe(const char* provider, const char* library, Text& found, Failure* failure) = 0;
  // *world is set only on success.
  virtual sparkgap_status make_world(const DeviceWorldOptions& options, DeviceWorld** world, Failure* failure) = 0;

 protected:
  ~DeviceLibrary() = default;
};

}  // namespace sparkgap

extern "C" {
using sparkgap_device_library_function = sparkgap::DeviceLibrary* (*)();
}

#endif  // SPARKGAP_DEVICE_DEVICE_H
