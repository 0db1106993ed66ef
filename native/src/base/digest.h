// Digests by which PEs see that they have the same: FNV-1a of 64 bits. Against mistakes, not against malice.
#ifndef SPARKGAP_BASE_DIGEST_H
#define SPARKGAP_BASE_DIGEST_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace sparkgap {

class Digest {
 public:
  Digest& add(const void* data, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) value_ = (value_ ^ static_cast<const uint8_t*>(data)[i]) * 0x100000001b3u;
    return *this;
  }
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number> || std::is_enum_v<Number>>>
  Digest& add(Number number) {
    return add(&number, sizeof number);
  }
  // With its length, so that two texts are not one.
  Digest& add(const std::string& text) { return add(text.size()).add(text.data(), text.size()); }

  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace sparkgap

#endif  // SPARKGAP_BASE_DIGEST_H
