// What carries out a world's calls: the one interface that the world has to memory, to GPUs, and to whatever comes.
//
// The world has checked every call before it comes here, has numbered it and shown it on the call board, and does not
// ask again. An engine waits through the node's Waiter, or with the same deadline; it throws Failure. What goes wrong
// in the middle of a collective call ends the world for all PEs (Waiter::give_up); what is refused before anything was
// touched does not.
//
// An engine belongs to one PE, and to the thread of the PE's handle. PEs are numbered as in the world.
//
// There are engine/host (shared memory), engine/nodes (host memory of several nodes) and engine/device (GPUs);
// engine/engines.cc lists which provider's worlds have which.
#ifndef SPARKGAP_ENGINE_ENGINE_H
#define SPARKGAP_ENGINE_ENGINE_H

#include <cstdint>
#include <memory>

#include "base/error.h"
#include "description/call.h"
#include "description/one_sided.h"
#include "description/rows.h"
#include "engine/recorder.h"
#include "engine/streams.h"
#include "protocol/node.h"
#include "provider/provider.h"
#include "select/routes.h"

namespace sparkgap {

class Engine {
 public:
  virtual ~Engine() = default;

  // ---- Beginning and end

  // Of worlds on several nodes, before connect: this PE's card, for all others. `node_id`: what PEs of its node need to
  // open their control segment, where this PE has made it.
  virtual void write_card(uint8_t* card, const uint8_t* node_id) const;
  // All PEs' cards, in their order. Returns the `node_id` of this PE's node.
  virtual const uint8_t* take_cards(const uint8_t* cards);

  // Collective, once: the PEs of `node` have met in its control segment and can wait for each other. The node outlives
  // the engine's last call but for the destructor. Adds to `circumstances` what the selector has to know of this
  // engine, the same on all PEs.
  virtual void connect(Node& node, Circumstances* circumstances) = 0;

  // After connect, before the first collective: the world's routes, which live as long as the engine.
  virtual void use(const Routes&) {}

  // After connect, on all PEs alike: begins to open another library whose collectives this world can have besides
  // (Algorithm::kDefault). Calls go on meanwhile. Again: nothing.
  virtual void open_beside() {}
  // Collective, after that: waits until it is known whether all PEs have it.
  virtual bool await_beside() { return false; }

  // Ends this PE's part, once, after all its memory has been given back: waits, with a limit, for what is under way.
  // False if other PEs must not take this one for gone yet, since something here may still use their memory.
  virtual bool leave() = 0;

  // ---- Calls

  // A collective call that is not empty, with the algorithm that was selected. Returns the one by which it went.
  virtual Algorithm collective(const CollectiveCall& call) = 0;

  // Collective. In host memory the indices have been looked at. Where an expert, or a PE, would get more rows than it
  // has room for, it throws INVALID_ARGUMENT on all PEs alike, and the world is still good. An engine that has no such
  // calls throws UNAVAILABLE.
  virtual void rows(const RowsCall& call);

  // One-sided. Ranges are within the memory, `bytes` is more than 0, words are aligned.
  virtual void put(const SymmetricMemory& dst, uint64_t offset, const void* src, uint64_t bytes, int32_t pe) = 0;
  virtual void get(void* dst, const SymmetricMemory& src, uint64_t offset, uint64_t bytes, int32_t pe) = 0;
  virtual void signal(const SymmetricMemory& memory, uint64_t offset, int64_t value, int32_t signal_op, int32_t pe) = 0;
  // On this PE's own part. `observed` and `before` may be nullptr: then an engine that enqueues does not wait.
  virtual void wait_signal(const SymmetricMemory& memory, uint64_t offset, int32_t comparison, int64_t value,
                           int64_t* observed) = 0;
  virtual void fetch_add(const SymmetricMemory& memory, uint64_t offset, int64_t delta, int32_t pe,
                         int64_t* before) = 0;

  // Returns when everything that this PE has enqueued is done.
  virtual void synchronize() = 0;

  // nullptr if calls are done when they return.
  virtual Streams* streams() = 0;

  // nullptr if the calls of a step are to be made one after the other.
  virtual Recorder* recorder() { return nullptr; }

  // What kernels of the caller's take of this PE; throws where there can be none.
  virtual const sparkgap_device_world& device_world() const;

  // ---- Memory

  // Collective, `bytes` > 0: zeroed memory on every PE. All PEs throw the same status, or none does. It is given back
  // by its destructor, on each PE by itself, in the same order on all.
  virtual std::unique_ptr<SymmetricMemory> allocate(uint64_t bytes) = 0;

  // Whether that is memory of a GPU.
  virtual bool memory_is_device() const = 0;

  // ---- What there is to know

  // The number of a PE's node; after connect.
  virtual int32_t node_of(int32_t pe) const;
  // SPARKGAP_LINK_... between two PEs of the world; after connect.
  virtual int32_t link(int32_t a, int32_t b) const = 0;

  // The world has been aborted: throws if that is because of this process, which can do nothing any more.
  virtual void check_process() const = 0;

  // Appends where the memory is and what joins the PEs, for logs.
  virtual void describe(Text& text) const = 0;
};

// A one-sided call that has been checked. Inlined where its kind is known.
inline void carry_out(Engine& engine, const OneSidedCall& call) {
  switch (call.operation) {
    case SPARKGAP_PUT:
    case SPARKGAP_PUT_SIGNAL:
      if (call.bytes > 0) engine.put(*call.data, call.data_offset, call.src, call.bytes, call.pe);
      if (call.operation == SPARKGAP_PUT) break;
      [[fallthrough]];
    case SPARKGAP_SIGNAL:
      engine.signal(*call.word, call.word_offset, call.value, call.how, call.pe);
      break;
    case SPARKGAP_GET:
      if (call.bytes > 0) engine.get(call.dst, *call.data, call.data_offset, call.bytes, call.pe);
      break;
    case SPARKGAP_WAIT_SIGNAL:
      engine.wait_signal(*call.word, call.word_offset, call.how, call.value, call.found);
      break;
    case SPARKGAP_FETCH_ADD:
      engine.fetch_add(*call.word, call.word_offset, call.value, call.pe, call.found);
      break;
    default:
      break;
  }
}

}  // namespace sparkgap

#endif  // SPARKGAP_ENGINE_ENGINE_H
