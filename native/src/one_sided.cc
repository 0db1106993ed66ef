#include "one_sided.h"

#include <cstring>

#include "comparison.h"
#include "protocol/atomics.h"
#include "reduce/reduce.h"

namespace sparkgap {
namespace {

int64_t* word_at(Buffer& buffer, int32_t pe, uint64_t offset) {
  return reinterpret_cast<int64_t*>(buffer.at(pe, offset));
}

// What a GPU can reach: NCCL has worlds in which PEs have collectives but no way into each other's memory.
void check_reachable(const Buffer& buffer, int32_t pe) {
  if (buffer.memory != nullptr && buffer.memory->part(pe) != nullptr) return;
  fail(SPARKGAP_UNAVAILABLE, pe,
       "the GPU memory of PE %d cannot be addressed from this PE's GPU, and NCCL puts nothing without a call on the "
       "other side: use collectives, or GPUs that are peers of each other (nvidia-smi topo -p2p w)",
       pe);
}

// Names what this PE waits for, for as long as it waits.
class Activity {
 public:
  Activity(Waiter& waiter, const char* name) : waiter_(waiter) { waiter_.set_activity(name); }
  ~Activity() { waiter_.set_activity(nullptr); }
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

 private:
  Waiter& waiter_;
};

}  // namespace

void put(World& world, Buffer& dst, uint64_t dst_offset, const void* src, uint64_t bytes, int32_t pe) {
  if (bytes == 0) return;
  check_reachable(dst, pe);
  uint8_t* to = dst.at(pe, dst_offset);
  if (GpuWorld* gpu = world.gpu()) return gpu->copy(to, src, bytes);
  // memmove: a PE may put within its own part.
  std::memmove(to, src, bytes);
}

void get(World& world, void* dst, Buffer& src, uint64_t src_offset, uint64_t bytes, int32_t pe) {
  if (bytes == 0) return;
  check_reachable(src, pe);
  const uint8_t* from = src.at(pe, src_offset);
  if (GpuWorld* gpu = world.gpu()) return gpu->copy(dst, from, bytes);
  std::memmove(dst, from, bytes);
}

void signal(World& world, Buffer& buffer, uint64_t offset, int64_t value, int32_t signal_op, int32_t pe) {
  check_reachable(buffer, pe);
  int64_t* word = word_at(buffer, pe, offset);
  if (GpuWorld* gpu = world.gpu()) return gpu->signal(word, value, signal_op);
  if (signal_op == SPARKGAP_SIGNAL_SET) {
    store_release(word, value);
  } else {
    __atomic_fetch_add(word, value, __ATOMIC_RELEASE);
  }
  wake_sleepers(world.control().header());
}

void wait_signal(World& world, Buffer& buffer, uint64_t offset, int32_t comparison, int64_t value, int64_t* observed) {
  const int64_t* word = word_at(buffer, world.pe(), offset);
  if (GpuWorld* gpu = world.gpu()) return gpu->wait_signal(word, comparison, value, observed);
  const Activity activity(world.waiter(), "waitSignal");
  int64_t seen = 0;
  world.waiter().until(kNoPe, [&] {
    seen = load_acquire(word);
    return holds(seen, comparison, value);
  });
  if (observed != nullptr) *observed = seen;
}

void fetch_add(World& world, Buffer& target, uint64_t offset, int64_t delta, int32_t pe, int64_t* before) {
  check_reachable(target, pe);
  int64_t* word = word_at(target, pe, offset);
  if (GpuWorld* gpu = world.gpu()) return gpu->fetch_add(word, delta, before);
  const int64_t found = __atomic_fetch_add(word, delta, __ATOMIC_ACQ_REL);
  if (before != nullptr) *before = found;
  wake_sleepers(world.control().header());
}

}  // namespace sparkgap
