// What is said of an abort whose record in shared memory makes no sense.
#include "protocol/abort.h"

#include <cstring>

#include "base/error.h"
#include "protocol/atomics.h"
#include "protocol/control.h"
#include "support/check.h"
#include "support/control_memory.h"

namespace sparkgap::test {
namespace {

constexpr int32_t kPes = 3;

// What PE 0 of three fails with when the world has been aborted with this record.
sparkgap::Failure failure_of(int32_t by, int32_t subject, int32_t status) {
  const ControlMemory memory(kPes);
  const Control& control = memory.control();
  AbortRecord& record = control.header().abort;
  record.by = by;
  record.subject = subject;
  record.status = status;
  std::memset(record.reason, 'x', sizeof record.reason);
  store_release(&control.header().abort_state, kAborted);
  try {
    fail_as_aborted(control, 0);
  } catch (const sparkgap::Failure& failure) {
    return failure;
  }
}

void a_record_that_names_no_pe_is_told_and_not_followed() {
  for (const int32_t none : {-2, kPes, INT32_MAX}) {
    for (const auto& failure : {failure_of(none, 1, SPARKGAP_ABORTED), failure_of(1, none, SPARKGAP_ABORTED)}) {
      expect(failure.status == SPARKGAP_INTERNAL, "status %d", failure.status);
      expect(std::strstr(failure.message, "of 3 PEs") != nullptr, "%s", failure.message);
    }
  }
}

void a_world_that_has_ended_is_never_told_as_well() {
  expect(failure_of(1, 2, SPARKGAP_OK).status == SPARKGAP_INTERNAL, "a failure with the status of success");
}

void a_status_that_there_is_not_is_told_as_such() {
  for (const int32_t status : {12345, -1, SPARKGAP_DEVICE_FAILED + 1}) {
    const sparkgap::Failure failure = failure_of(1, 2, status);
    expect(failure.status == SPARKGAP_INTERNAL, "status %d", failure.status);
    expect(std::strstr(failure.message, std::to_string(status).c_str()) != nullptr, "%s", failure.message);
  }
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"a_record_that_names_no_pe_is_told_and_not_followed", a_record_that_names_no_pe_is_told_and_not_followed},
       {"a_world_that_has_ended_is_never_told_as_well", a_world_that_has_ended_is_never_told_as_well},
       {"a_status_that_there_is_not_is_told_as_such", a_status_that_there_is_not_is_told_as_such}});
}
