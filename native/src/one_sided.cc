#include "one_sided.h"

#include <cstring>

#include "protocol/atomics.h"
#include "reduce/reduce.h"

namespace sparkgap {
namespace {

int64_t* word_at(Buffer& buffer, int32_t pe, uint64_t offset) {
  return reinterpret_cast<int64_t*>(buffer.at(pe, offset));
}

bool holds(int64_t observed, int32_t comparison, int64_t value) {
  switch (comparison) {
    case SPARKGAP_EQ:
      return observed == value;
    case SPARKGAP_NE:
      return observed != value;
    case SPARKGAP_GT:
      return observed > value;
    case SPARKGAP_GE:
      return observed >= value;
    case SPARKGAP_LT:
      return observed < value;
    default:
      return observed <= value;
  }
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

void put(Buffer& dst, uint64_t dst_offset, const void* src, uint64_t bytes, int32_t pe) {
  // memmove: a PE may put within its own part.
  if (bytes > 0) std::memmove(dst.at(pe, dst_offset), src, bytes);
}

void get(void* dst, Buffer& src, uint64_t src_offset, uint64_t bytes, int32_t pe) {
  if (bytes > 0) std::memmove(dst, src.at(pe, src_offset), bytes);
}

void signal(World& world, Buffer& buffer, uint64_t offset, int64_t value, int32_t signal_op, int32_t pe) {
  int64_t* word = word_at(buffer, pe, offset);
  if (signal_op == SPARKGAP_SIGNAL_SET) {
    store_release(word, value);
  } else {
    __atomic_fetch_add(word, value, __ATOMIC_RELEASE);
  }
  wake_sleepers(world.control().header());
}

int64_t wait_signal(World& world, Buffer& buffer, uint64_t offset, int32_t comparison, int64_t value) {
  const int64_t* word = word_at(buffer, world.pe(), offset);
  const Activity activity(world.waiter(), "waitSignal");
  int64_t observed = 0;
  world.waiter().until(kNoPe, [&] {
    observed = load_acquire(word);
    return holds(observed, comparison, value);
  });
  return observed;
}

int64_t fetch_add(World& world, Buffer& target, uint64_t offset, int64_t delta, int32_t pe) {
  const int64_t before = __atomic_fetch_add(word_at(target, pe, offset), delta, __ATOMIC_ACQ_REL);
  wake_sleepers(world.control().header());
  return before;
}

}  // namespace sparkgap
