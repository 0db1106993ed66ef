#include "protocol/agreement.h"

namespace sparkgap {

void fail_as(const Node& node, int32_t pe, int32_t status, const char* message, const char* what) {
  // What makes that PE's process unusable is no reason for others to be replaced.
  const bool theirs = status == SPARKGAP_DEVICE_FAILED && pe != node.pe();
  // The message comes out of shared memory, so it may not end.
  const int length = static_cast<int>(strnlen(message, kMaxMessageBytes));
  if (!is_failure(status)) status = SPARKGAP_INTERNAL;
  fail(theirs ? SPARKGAP_UNAVAILABLE : status, node.world_pe(pe), "PE %d (%s)%s%s: %.*s", node.world_pe(pe),
       node.label(pe).c_str(), what[0] == '\0' ? "" : ", ", what, length, message);
}

}  // namespace sparkgap
