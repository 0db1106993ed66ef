// Waiting for the GPU, and what becomes of what goes wrong there.
#include <time.h>

#include "base/clock.h"
#include "engine/device/device_engine.h"
#include "protocol/abort.h"
#include "protocol/call.h"

namespace sparkgap {
namespace {

// Of a kernel that makes several calls of a step the lane says which it was.
bool is_program(const kernels::WaitRecord& record) { return record.place.step > 0 && record.place.call == 0; }

kernels::StepPlace place_of(const kernels::WaitRecord& record) {
  return is_program(record) ? kernels::StepPlace{record.place.step, record.lane >> kernels::kLaneBits} : record.place;
}

int32_t lane_of(const kernels::WaitRecord& record) {
  return is_program(record) ? record.lane & ((1 << kernels::kLaneBits) - 1) : record.lane;
}

// "allReduce", "allReduce (call 7 of step 2)" or "allReduce in a kernel of the caller's".
void describe_activity(Text& text, int32_t activity, const kernels::StepPlace& place) {
  const int32_t kind = activity % device::kInCallersKernel;
  if (kind == device::kWaitSignal) {
    text.add("waitSignal");
  } else if (kind == device::kWaitBlocks) {
    text.add("the meeting of all blocks");
  } else {
    text.add("%s", operation_name(kind));
  }
  if (activity >= device::kInCallersKernel) text.add(" in a kernel of the caller's");
  if (place.step > 0) text.add(" (call %d of step %d)", place.call, place.step);
}

void describe_activity(Text& text, const kernels::WaitRecord& record) {
  describe_activity(text, record.collective, place_of(record));
}

}  // namespace

template <class Poll>
void DeviceEngine::wait_until_done(const Poll& poll) {
  sparkgap_status status = poll();
  if (__builtin_expect(status == SPARKGAP_TIMED_OUT, 0)) {
    const int64_t start = now_us() - kPollUs;
    next_comparison_us_ = kComparisonUs;
    do {
      look_around(now_us() - start);
      status = poll();
    } while (status == SPARKGAP_TIMED_OUT);
  }
  check(status);
  // A kernel that gave up has ended, like one that succeeded.
  if (__builtin_expect(load_acquire(&device_->wait_record().end) != 0, 0)) fail_call(SPARKGAP_ABORTED);
  // So has one of the provider's that was ended with the world.
  if (__builtin_expect(uses_provider_ && is_aborted(node_->control()), 0)) fail_call(SPARKGAP_ABORTED);
}

void DeviceEngine::synchronize() {
  wait_until_done([this] { return device_->poll(kPollUs, &failure_); });
}

void DeviceEngine::wait(Event& event) {
  wait_until_done([this, &event] { return device_->poll(event, kPollUs, &failure_); });
}

// What lasts is looked at every 10 ms: the same that a wait on the host looks at.
void DeviceEngine::look_around(int64_t waited_us) {
  look_at_kernels(node_->waiter());
  if (!is_aborted(node_->control())) {
    check(device_->check_provider(&failure_));
    for (int32_t peer = 0; peer < node_->pes(); ++peer) node_->waiter().check_alive(peer, true);
    if (nodes_ != nullptr) nodes_->channels().check_alive(node_->waiter(), true);
  }
  // NCCL's kernels know nothing of calls.
  if (nodes_ != nullptr && waited_us >= next_comparison_us_) {
    for (const int32_t peer : nodes_->channels().peers()) nodes_->channels().compare_calls(peer);
    next_comparison_us_ = waited_us + kComparisonUs;
  }
  // The kernels' own deadline, which names the PE and the slot, comes first; NCCL's kernels and the user's have none.
  if (waited_us >= (options_.peer_timeout_ms + 2000) * 1000) give_up_late(waited_us);
}

void DeviceEngine::give_up_late(int64_t waited_us) {
  Failure failure;
  failure.status = SPARKGAP_TIMED_OUT;
  Text text(failure.message, sizeof failure.message);
  text.add("what PE %d (%s, epoch %llu) has enqueued, up to ", options_.pe, options_.label.c_str(),
           static_cast<unsigned long long>(options_.epoch));
  const CallLine& own = node_->control().call_line(node_->pe());
  describe_call(text, own.begun, own.signature[own.begun % kCallsKept]);
  text.add(", was not done");
  uint64_t late = 0;
  if (find_behind(&failure.pe, &late)) {
    text.add(": ");
    describe_late_call(text, late);
    node_->waiter().describe_lateness_of(text, failure.pe, waited_us);
  } else {
    node_->waiter().describe_lateness(text, kNoPe, waited_us);
  }
  node_->waiter().give_up(failure);
}

// The PE that has begun fewest calls, fewer than this one, and the first that it has not begun.
bool DeviceEngine::find_behind(int32_t* pe, uint64_t* call) {
  uint64_t least = load_relaxed(&node_->control().call_line(node_->pe()).begun);
  *pe = kNoPe;
  const auto look_at = [&](int32_t other, uint64_t begun) {
    if (begun >= least) return;
    least = begun;
    *call = begun + 1;
    *pe = other;
  };
  for (int32_t near = 0; near < node_->pes(); ++near) {
    look_at(node_->world_pe(near), load_acquire(&node_->control().call_line(near).begun));
  }
  if (nodes_ != nullptr) {
    for (const int32_t far : nodes_->channels().peers()) {
      // What is told has no calls while that PE makes one after the other.
      const CallLine* calls = nodes_->channels().calls_of(far);
      if (calls != nullptr && calls->begun > 0) look_at(far, calls->begun);
    }
  }
  return *pe != kNoPe;
}

void DeviceEngine::describe_late_call(Text& text, uint64_t call) const {
  const PlacedCall& placed = placed_calls_[call % kPlacedCalls];
  CallSignature signature;
  if (placed.call == call) {
    describe_activity(text, placed.collective, placed.place);
  } else if (find_call(node_->control().call_line(node_->pe()), call, &signature)) {
    describe_call(text, call, signature);
  } else {
    text.add("call #%llu", static_cast<unsigned long long>(call));
  }
}

// The provider's calls may not look at the deadline.
void DeviceEngine::look_at_provider(Waiter& waiter) {
  const int64_t inside_us = device_->inside_provider_us();
  if (inside_us < options_.peer_timeout_ms * 1000) return;
  Failure failure;
  failure.status = SPARKGAP_TIMED_OUT;
  Text text(failure.message, sizeof failure.message);
  waiter.describe_own_call(text);
  text.add(": NCCL did not return from it");
  waiter.describe_lateness(text, kNoPe, inside_us);
  abort_world(node_->control(), options_.pe, failure);
}

// What a kernel of this PE has left, told to the other PEs. On the owner's thread or the watcher's.
void DeviceEngine::look_at_kernels(Waiter& waiter) {
  const kernels::WaitRecord& record = device_->wait_record();
  const auto end = static_cast<kernels::WaitEnd>(load_acquire(&record.end));
  if (end == kernels::WaitEnd::kNone || end == kernels::WaitEnd::kAborted || is_aborted(node_->control())) return;
  if (record.peer >= 0 && record.peer < node_->pes()) waiter.compare_calls(record.peer);
  // Kernels number the PEs of a node.
  const int32_t peer = node_->world_pe(record.peer);
  Failure failure;
  failure.pe = peer;
  Text text(failure.message, sizeof failure.message);
  if (end == kernels::WaitEnd::kCountsDisagree) {
    failure.status = SPARKGAP_MISMATCH;
    describe_activity(text, record);
    text.add(": PE %d (%s) sends %llu bytes to PE %d (%s), which expects %llu", peer, node_->label(record.peer).c_str(),
             static_cast<unsigned long long>(record.seen), options_.pe, options_.label.c_str(),
             static_cast<unsigned long long>(record.expected));
  } else if (end == kernels::WaitEnd::kCallsDiffer) {
    failure.status = SPARKGAP_MISMATCH;
    describe_activity(text, record);
    text.add(
        " on the GPU of PE %d (%s): PE %d (%s) has made another call in its place. All PEs must make the same calls "
        "in the same order, with the same type, operation, root and count",
        options_.pe, options_.label.c_str(), peer, node_->control().record(record.peer).label);
  } else if (end == kernels::WaitEnd::kNoSuchChannel) {
    failure.status = SPARKGAP_ABORTED;
    text.add(
        "a kernel of the caller's on the GPU of PE %d (%s) has asked for channel %llu, and there are %llu, from 0: "
        "use fewer blocks, or a lower first channel",
        options_.pe, options_.label.c_str(), static_cast<unsigned long long>(record.seen),
        static_cast<unsigned long long>(record.expected));
  } else if (end >= kernels::WaitEnd::kNoSuchExpert) {
    failure.status = SPARKGAP_ABORTED;
    describe_rows(text, end, record);
  } else {
    failure.status = SPARKGAP_TIMED_OUT;
    describe_activity(text, record);
    text.add(" on the GPU of PE %d (%s, epoch %llu), in slot %d (number %llu, found %llu),", options_.pe,
             options_.label.c_str(), static_cast<unsigned long long>(options_.epoch), lane_of(record),
             static_cast<unsigned long long>(record.expected), static_cast<unsigned long long>(record.seen));
    waiter.describe_lateness(text, record.peer, options_.peer_timeout_ms * 1000);
    if (record.collective == device::kInCallersKernel + device::kWaitBlocks) {
      text.add(". Blocks that wait for each other have to be on the GPU at once: launch fewer (docs/device.md)");
    }
  }
  abort_world(node_->control(), options_.pe, failure);
}

// What a kernel that exchanges rows could not do.
void DeviceEngine::describe_rows(Text& text, kernels::WaitEnd end, const kernels::WaitRecord& record) const {
  const auto expected = static_cast<unsigned long long>(record.expected);
  const auto seen = static_cast<unsigned long long>(record.seen);
  const bool to_experts = record.collective == SPARKGAP_DISPATCH;
  describe_activity(text, record);
  if (end == kernels::WaitEnd::kNoRoom) {
    text.add(": ");
    if (to_experts) text.add("expert %d on ", record.lane);
    text.add(
        "PE %d (%s) would get %llu rows from all PEs together, and the shape's `capacity` is %llu: make it with more, "
        "or send fewer (index -1 sends none)",
        node_->world_pe(record.peer), node_->label(record.peer).c_str(), seen, expected);
    return;
  }
  text.add(" on the GPU of PE %d (%s): ", options_.pe, options_.label.c_str());
  if (end == kernels::WaitEnd::kRowsDiffer) {
    text.add("%llu rows are to be combined, and the last dispatch had %llu", seen, expected);
    return;
  }
  const auto entries = static_cast<unsigned long long>(record.lane);
  text.add("%s sends row %llu to %s %d by entry %llu of its %llu, and there is none (-1 sends the row nowhere)",
           to_experts ? "indices" : "destinations", expected / entries, to_experts ? "expert" : "PE",
           static_cast<int32_t>(record.seen), expected % entries, entries);
}

void DeviceEngine::fail_call(sparkgap_status status) {
  if (status == SPARKGAP_INVALID_ARGUMENT) throw failure_;
  if (recording_ && status != SPARKGAP_DEVICE_FAILED) refuse_recording(status);
  if (status == SPARKGAP_DEVICE_FAILED) {
    device_failure_ = failure_;
    Failure others = failure_;
    others.status = SPARKGAP_PEER_LOST;
    others.pe = options_.pe;
    abort_world(node_->control(), options_.pe, others);
    throw device_failure_;
  }
  look_at_kernels(node_->waiter());
  if (status == SPARKGAP_INTERNAL && uses_provider_) look_for_cause();
  Failure named = failure_;
  if (status == SPARKGAP_TIMED_OUT) {
    Text text(named.message, sizeof named.message);
    node_->waiter().describe_own_call(text);
    text.add(": %s", failure_.message);
  }
  give_up(named);
}

void DeviceEngine::give_up(const Failure& own) {
  try {
    node_->waiter().give_up(own);
  } catch (const Failure& failure) {
    // Where a step of this PE has stopped because of another PE, which does not know.
    const kernels::WaitRecord& record = device_->wait_record();
    const bool aborted = load_acquire(&record.end) == static_cast<uint32_t>(kernels::WaitEnd::kAborted);
    if (!aborted || record.place.step == 0) throw;
    Failure named = failure;
    Text text(named.message, sizeof named.message);
    text.add("in ");
    describe_activity(text, record);
    text.add(": %s", failure.message);
    throw named;
  }
}

// A connection of the provider's that breaks is seen at once, and the process at its other end a little later.
void DeviceEngine::look_for_cause() {
  const int64_t end = now_us() + kCauseUs;
  while (now_us() < end && !is_aborted(node_->control())) {
    for (int32_t peer = 0; peer < node_->pes(); ++peer) node_->waiter().check_alive(peer, false);
    if (nodes_ != nullptr) nodes_->channels().check_alive(node_->waiter(), false);
    const timespec pause = {0, 5000000};
    nanosleep(&pause, nullptr);
  }
}

void DeviceEngine::check_process() const {
  if (device_failure_.status != SPARKGAP_OK) throw device_failure_;
}

}  // namespace sparkgap
