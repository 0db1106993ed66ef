// How a failure travels inside the library: as a C++ exception that the C functions turn into a status and a sentence.
// Nothing is formatted and nothing is allocated until something fails.
#ifndef SPARKGAP_BASE_ERROR_H
#define SPARKGAP_BASE_ERROR_H

#include <cstdarg>
#include <cstddef>
#include <cstdint>

#include "sparkgap/sparkgap.h"

namespace sparkgap {

constexpr size_t kMaxMessageBytes = 2048;

// What went wrong, and which PE it is about (-1: none in particular).
struct Failure {
  sparkgap_status status = SPARKGAP_OK;
  int32_t pe = -1;
  char message[kMaxMessageBytes] = "";
};

constexpr int32_t kNoPe = -1;

// Whether a number that another process wrote is one of the statuses of a failure.
constexpr bool is_failure(int32_t status) { return status > SPARKGAP_OK && status <= SPARKGAP_DEVICE_FAILED; }

[[noreturn]] __attribute__((format(printf, 3, 4))) void fail(sparkgap_status status, int32_t pe, const char* format,
                                                             ...);

// A sentence that is put together piece by piece in a fixed array; what does not fit is cut.
class Text {
 public:
  Text(char* to, size_t capacity);
  __attribute__((format(printf, 2, 3))) Text& add(const char* format, ...);
  Text& add_list(const char* format, std::va_list arguments);
  // "1.5 s". printf's numbers with a point follow the locale, which a JVM sets for its process.
  Text& add_seconds(int64_t us);

 private:
  char* to_;
  size_t capacity_;
  size_t used_ = 0;
};

}  // namespace sparkgap

#endif  // SPARKGAP_BASE_ERROR_H
