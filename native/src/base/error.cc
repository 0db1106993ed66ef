#include "base/error.h"

#include <algorithm>
#include <cstdio>

namespace sparkgap {

Text::Text(char* to, size_t capacity) : to_(to), capacity_(capacity) { to_[0] = '\0'; }

Text& Text::add(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  add_list(format, arguments);
  va_end(arguments);
  return *this;
}

Text& Text::add_list(const char* format, std::va_list arguments) {
  int written = std::vsnprintf(to_ + used_, capacity_ - used_, format, arguments);
  if (written > 0) used_ = std::min(capacity_ - 1, used_ + static_cast<size_t>(written));
  return *this;
}

Text& Text::add_seconds(int64_t us) {
  constexpr int64_t kTenth = 100000;
  const int64_t tenths = (us + kTenth / 2) / kTenth;
  return add("%lld.%lld s", static_cast<long long>(tenths / 10), static_cast<long long>(tenths % 10));
}

void fail(sparkgap_status status, int32_t pe, const char* format, ...) {
  Failure failure;
  failure.status = status;
  failure.pe = pe;
  std::va_list arguments;
  va_start(arguments, format);
  Text(failure.message, sizeof failure.message).add_list(format, arguments);
  va_end(arguments);
  throw failure;
}

}  // namespace sparkgap
