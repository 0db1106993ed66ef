#include "protocol/abort.h"

#include <algorithm>
#include <cstring>

#include "protocol/futex.h"

namespace sparkgap {

void abort_world(const Control& control, int32_t by, const Failure& failure) {
  abort_world_as(control, by, control.record(by - control.header().first_pe).label, failure);
}

void abort_world_as(const Control& control, int32_t by, const char* label, const Failure& failure) {
  ControlHeader& header = control.header();
  uint32_t running = kRunning;
  if (!__atomic_compare_exchange_n(&header.abort_state, &running, kAborting, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    return;
  }
  AbortRecord& record = header.abort;
  record.status = failure.status;
  record.by = by;
  record.subject = failure.pe;
  const size_t label_length = strnlen(label, sizeof record.label - 1);
  std::memcpy(record.label, label, label_length);
  record.label[label_length] = '\0';
  const size_t length = std::min(std::strlen(failure.message), sizeof record.reason - 1);
  std::memcpy(record.reason, failure.message, length);
  record.reason[length] = '\0';
  store_release(&header.abort_state, kAborted);
  wake_all(header);
}

void fail_as_aborted(const Control& control, int32_t pe) {
  const ControlHeader& header = control.header();
  // The writer needs a microsecond; should it have died within it, there is no reason to tell.
  for (int i = 0; i < 1000000 && load_acquire(&header.abort_state) == kAborting; ++i) cpu_pause();
  if (load_acquire(&header.abort_state) != kAborted) {
    fail(SPARKGAP_ABORTED, kNoPe, "a PE aborted the world and ended before it could say why");
  }
  const AbortRecord record = header.abort;
  const int32_t by = record.by;
  const auto is_pe = [&](int32_t number) { return number >= 0 && number < header.world_pes; };
  if (!is_pe(by) || (record.subject != kNoPe && !is_pe(record.subject)) || !is_failure(record.status)) {
    fail(SPARKGAP_INTERNAL, kNoPe,
         "the world was ended, but by \"PE %d\" of %d PEs, about \"PE %d\", with status %d: something has written into "
         "its shared memory",
         by, header.world_pes, record.subject, static_cast<int>(record.status));
  }
  const int length = static_cast<int>(strnlen(record.reason, sizeof record.reason));
  if (by == pe) fail(record.status, record.subject, "%.*s", length, record.reason);
  // Where this PE is the one that another complains of, that other is what to look at.
  const int32_t subject = record.subject == kNoPe || record.subject == pe ? by : record.subject;
  fail(record.status, subject, "PE %d (%.*s) ended the world: %.*s", by,
       static_cast<int>(strnlen(record.label, sizeof record.label)), record.label, length, record.reason);
}

void wake_all(ControlHeader& header) {
  __atomic_fetch_add(&header.wake, 1, __ATOMIC_SEQ_CST);
  futex_wake_all(&header.wake);
}

}  // namespace sparkgap
