// What the tests of failures expect of a call that cannot succeed.
#ifndef SPARKGAP_TEST_PROTOCOL_EXPECT_FAILURE_H
#define SPARKGAP_TEST_PROTOCOL_EXPECT_FAILURE_H

#include <string>
#include <vector>

#include "sparkgap/sparkgap.h"
#include "support/check.h"

namespace sparkgap::test {

// Throws unless status is `expected` and the world's error holds every one of `parts`.
inline void expect_failure(const sparkgap_world* world, sparkgap_status status, sparkgap_status expected,
                           const std::vector<std::string>& parts) {
  const std::string text = sparkgap_last_error(world);
  expect(status == expected, "status %d instead of %d: %s", status, expected, text.c_str());
  for (const std::string& part : parts) {
    expect(text.find(part) != std::string::npos, "\"%s\" is not in: %s", part.c_str(), text.c_str());
  }
}

}  // namespace sparkgap::test
#endif  // SPARKGAP_TEST_PROTOCOL_EXPECT_FAILURE_H
