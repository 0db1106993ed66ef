// What is said of an abort whose record in shared memory makes no sense.
#include "protocol/abort.h"

#include <cstring>
#include <vector>

#include "error.h"
#include "protocol/atomics.h"
#include "protocol/control.h"
#include "support/check.h"

namespace sparkgap::test {
namespace {

constexpr int32_t kPes = 3;

void a_record_that_names_no_pe_is_told_and_not_followed() {
  std::vector<max_align_t> memory(ControlLayout::of(kPes).segment_bytes / sizeof(max_align_t) + 1);
  const Control control(memory.data(), kPes);
  for (const int32_t by : {-1, kPes, INT32_MAX}) {
    control.header().abort.by = by;
    std::memset(control.header().abort.reason, 'x', sizeof control.header().abort.reason);
    store_release(&control.header().abort_state, kAborted);
    try {
      fail_as_aborted(control, 0);
    } catch (const sparkgap::Failure& failure) {
      expect(failure.status == SPARKGAP_INTERNAL, "status %d", failure.status);
      expect(std::strstr(failure.message, "of 3 PEs") != nullptr, "%s", failure.message);
    }
  }
}

}  // namespace
}  // namespace sparkgap::test

int main(int argc, char** argv) {
  using namespace sparkgap::test;
  return run_tests(
      argc, argv,
      {{"a_record_that_names_no_pe_is_told_and_not_followed", a_record_that_names_no_pe_is_told_and_not_followed}});
}
