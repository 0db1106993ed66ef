#include "protocol/agreement.h"

namespace sparkgap {

void fail_as(int32_t pe, bool own, const std::string& label, int32_t status, const char* message, const char* what) {
  // What makes that PE's process unusable is no reason for others to be replaced.
  const bool theirs = status == SPARKGAP_DEVICE_FAILED && !own;
  // The message comes out of shared memory or from another host, so it may not end.
  const int length = static_cast<int>(strnlen(message, kMaxMessageBytes));
  if (!is_failure(status)) status = SPARKGAP_INTERNAL;
  fail(theirs ? SPARKGAP_UNAVAILABLE : status, pe, "PE %d (%s)%s%s: %.*s", pe, label.c_str(),
       what[0] == '\0' ? "" : ", ", what, length, message);
}

}  // namespace sparkgap
