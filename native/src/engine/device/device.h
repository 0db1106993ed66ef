// The interface between the two libraries: what libsparkgap.so, which has the world and its control segment but no
// CUDA, asks of libsparkgap_cuda.so, which has the kernels, NVSHMEM and NCCL but talks to no peer's process by itself
// and waits for none without a limit.
//
// Both are always built together and loaded from one folder; kDeviceInterface tells when they were not. Each has a
// C++ library of its own inside, so nothing crosses but plain structs, pointers and virtual calls: no exception, no
// std:: type. A call that fails fills the Failure that it was given and returns its status.
//
// Threads: a DeviceWorld is called by one thread at a time, but for abort() and inside_provider_us(), which any
// thread may call at any moment, and what opens NCCL beside NVSHMEM (beside.h).
#ifndef SPARKGAP_ENGINE_DEVICE_DEVICE_H
#define SPARKGAP_ENGINE_DEVICE_DEVICE_H

#include <cstdint>

#include "base/error.h"
#include "description/call.h"
#include "description/rows.h"
#include "engine/device/beside_library.h"
#include "engine/device/links.h"
#include "engine/streams.h"
#include "protocol/kernel_world.h"
#include "provider/device/device_card.h"
#include "sparkgap/sparkgap.h"

namespace sparkgap {

// Grows with every change of this file or of a file that it includes.
constexpr int32_t kDeviceInterface = 9;

// The part of the control segment that is mapped into the GPU.
struct DeviceControl {
  void* page;  // aligned to a page
  uint64_t page_bytes;
  const uint32_t* abort_state;  // within the page; not 0: the world has been aborted
};

// One allocation of the symmetric heap: first made, then attached to once all PEs have made theirs. The destructor is
// local and frees what can be freed without the others; no kernel of any PE may use the memory any more.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  // PEs are those of the node here, numbered as in the node.
  // Fills part(pe) for all of them from what each has offered. Local.
  virtual sparkgap_status attach(const DeviceOffer* offers, Failure* failure) = 0;
  // Collective: every PE frees the same memory now; then the destructor.
  virtual sparkgap_status free_together(Failure* failure) = 0;
  // Local: this PE uses the others' parts no more. Only when all have said so may one free its own.
  virtual void detach() = 0;
  // Where this process and its GPU see `pe`'s part; nullptr if they cannot.
  virtual uint8_t* part(int32_t pe) const = 0;
};

// What was recorded of a stream, and can be launched again and again.
class DeviceStep {
 public:
  // What is enqueued of it runs to its end.
  virtual ~DeviceStep() = default;
};

// One PE's GPU half of a world.
class DeviceWorld : public BesideLibrary {
 public:
  virtual ~DeviceWorld() = default;

  // Fills this PE's card. PE 0 also makes the unique id.
  virtual sparkgap_status card(DeviceCard* card, Failure* failure) = 0;
  // Collective: starts the provider. `cards` has one of each PE, checked by the caller.
  virtual sparkgap_status start(const DeviceCard* cards, const DeviceControl& control, Failure* failure) = 0;
  // What the kernels need of symmetric memory on each PE.
  virtual uint64_t scratch_bytes() const = 0;
  // All PEs have attached to each other's `scratch`: calls may come. The caller keeps the memory until after the last.
  // `near`: the cards of the PEs of this node.
  virtual sparkgap_status use_scratch(const DeviceMemory& scratch, const DeviceCard* near, Failure* failure) = 0;

  // How this PE's GPU reaches those of the others, as far as NVML tells; PEs on one GPU share its memory.
  virtual void find_links(const DeviceCard* near, LinkRow* row) const = 0;

  // Whether this GPU has room for an allocation, as far as one can tell before.
  virtual sparkgap_status check_room(uint64_t bytes, Failure* failure) = 0;
  // Collective, bytes > 0, zeroed: the first half of an allocation.
  virtual sparkgap_status allocate(uint64_t bytes, DeviceMemory** memory, DeviceOffer* offer, Failure* failure) = 0;
  // What kernels take of this PE, after use_scratch; lives as long as the world.
  virtual const sparkgap_device_world& view() const = 0;
  // Blocks that a kernel may have, after use_scratch; 0 if PEs cannot all address each other's memory, so that only the
  // provider's own collectives are left.
  virtual int32_t lanes() const = 0;
  // Before the first collective: by which its kernels are launched; changes with what the world chooses.
  virtual void use(const Routes& routes) = 0;
  // After an allocation has failed on some PE: makes allocate go another way, on all PEs alike. False: there is none.
  virtual bool fall_back() = 0;

  // Enqueues a collective, as the caller made it and select() decided.
  // *unfinished: host memory is involved, so the caller waits (poll) and then calls finish().
  virtual sparkgap_status collective(const CollectiveCall& call, bool* unfinished, Failure* failure) = 0;
  // Writes the results of the call that was unfinished to its host memory.
  virtual sparkgap_status finish(Failure* failure) = 0;

  // Enqueues an exchange of rows. `parts`: where the parts of its buffer are; `signature`: what all PEs have alike in
  // it.
  virtual sparkgap_status rows(const RowsCall& call, void* const* parts, uint32_t signature, Failure* failure) = 0;

  // Enqueues a copy. `to` and `from`: this PE's or another's part of a symmetric buffer, or device or host memory of
  // this process. *unfinished: host memory is involved; the caller waits.
  virtual sparkgap_status copy(void* to, const void* from, uint64_t bytes, bool* unfinished, Failure* failure) = 0;
  // Enqueues. A word is one of a symmetric buffer.
  virtual sparkgap_status signal(int64_t* word, int64_t value, int32_t signal_op, Failure* failure) = 0;
  virtual sparkgap_status wait_signal(const int64_t* word, int32_t comparison, int64_t value, Failure* failure) = 0;
  virtual sparkgap_status fetch_add(int64_t* word, int64_t delta, Failure* failure) = 0;
  // What the last wait_signal saw or the last fetch_add found; after a wait.
  virtual int64_t fetched() const = 0;

  // SPARKGAP_OK once all that is enqueued is done, or that is before `event`; TIMED_OUT if it is not within
  // `microseconds`; otherwise what has gone wrong.
  virtual sparkgap_status poll(int64_t microseconds, Failure* failure) = 0;
  virtual sparkgap_status poll(Event& event, int64_t microseconds, Failure* failure) = 0;

  virtual void* stream() const = 0;
  virtual sparkgap_status set_stream(void* stream, Failure* failure) = 0;
  virtual sparkgap_status make_event(Event** event, Failure* failure) = 0;
  virtual sparkgap_status record(Event& event, Failure* failure) = 0;
  virtual sparkgap_status wait(Event& event, Failure* failure) = 0;
  virtual sparkgap_status elapsed_us(Event& start, Event& end, double* microseconds, Failure* failure) = 0;

  // Captures the stream from here to one of the two ends; *step is set only on success. INVALID_ARGUMENT: what the
  // caller did meanwhile, or the stream, cannot be captured.
  virtual sparkgap_status begin_step(Failure* failure) = 0;
  virtual sparkgap_status end_step(DeviceStep** step, Failure* failure) = 0;
  virtual void drop_step() = 0;
  // What is enqueued next has this place, which its kernels leave in their record.
  virtual void set_place(const kernels::StepPlace& place) = 0;
  virtual sparkgap_status launch(DeviceStep& step, Failure* failure) = 0;

  // What this PE's kernels have left when they gave up; lives as long as the world.
  virtual const kernels::WaitRecord& wait_record() const = 0;
  // How long this PE's thread has been in a call of the provider that may wait for other PEs; 0 if it is in none. Any
  // thread.
  virtual int64_t inside_provider_us() const = 0;
  // What the provider has met with since its last call, in what it does by itself.
  virtual sparkgap_status check_provider(Failure* failure) = 0;
  // The abort word has been set: ends what does not look at it (NCCL's kernels). Any thread, more than once.
  virtual void abort() = 0;

  // After start, before the thread that opens NCCL beside NVSHMEM begins: what concerns the whole process.
  virtual void prepare_beside() = 0;
  // Ends NCCL beside NVSHMEM, once that thread has ended: before stop(). `together`: as there.
  virtual void stop_beside(bool together) = 0;
  // Ends the kernel that stays on the GPU between calls, if there is one. False if it is still there at the world's
  // deadline.
  virtual bool end_resident() = 0;

  // Ends the provider; nothing but abandon() and the destructor follow. `together`: all other PEs are known to do the
  // same now. If not, a provider that can only end together is left as it is, and `reason` is what later worlds are
  // refused with.
  virtual void stop(bool together, const char* reason) = 0;

  // A kernel may still use this object's memory: instead of the destructor. The process can have no further GPU world.
  virtual void abandon(const char* reason) = 0;

  // "NVSHMEM 3.4.5 (/usr/lib/libnvshmem_host.so.3) on NVIDIA H200 0000:19:00.0 GPU-..., ...": for logs.
  virtual void describe(Text& text) const = 0;
};

// What libsparkgap_cuda.so exports, by a function of the name below. All methods may be called by any thread.
class DeviceLibrary {
 public:
  virtual int32_t interface_number() const = 0;  // first, so that any version can be asked
  virtual sparkgap_status open_device(int32_t ordinal, sparkgap_device_info* info, Failure* failure) = 0;
  virtual sparkgap_status probe(const char* provider, const char* library, Text& found, Failure* failure) = 0;
  // *world is set only on success. The process may have one at a time.
  virtual sparkgap_status make_world(const DeviceWorldOptions& options, DeviceWorld** world, Failure* failure) = 0;

 protected:
  ~DeviceLibrary() = default;
};

using DeviceLibraryFunction = DeviceLibrary* (*)();
constexpr const char* kDeviceLibraryFunction = "sparkgap_device_library";

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_DEVICE_DEVICE_H
