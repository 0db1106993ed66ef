#include "support/reference.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "sparkgap/sparkgap.h"
#include "support/check.h"

namespace sparkgap::test {
namespace {

template <class T>
T element(const void* array, size_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(array) + index * sizeof(T), sizeof value);
  return value;
}

template <class T>
void set_element(void* array, size_t index, T value) {
  std::memcpy(static_cast<char*>(array) + index * sizeof(T), &value, sizeof value);
}

float decode_half(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) {
    return fraction != 0 ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
}

uint16_t encode_half(float value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7e00);
  if (magnitude >= 65520.0f) return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude == 0) return sign;
  // The place of the last bit; nearbyint rounds half to even.
  const int place = std::max(std::ilogb(magnitude), -14) - 10;
  const int steps = static_cast<int>(std::nearbyint(std::ldexp(magnitude, -place)));
  // A carry out of the fraction runs into the exponent, where it belongs.
  return static_cast<uint16_t>(sign | (steps + (place + 24) * 1024));
}

float decode_bfloat16(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

uint16_t encode_bfloat16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  const uint32_t dropped = bits & 0xffff;
  const uint32_t kept = bits >> 16;
  const bool up = dropped > 0x8000 || (dropped == 0x8000 && (kept & 1) != 0);
  return static_cast<uint16_t>(kept + (up ? 1 : 0));
}

template <class T>
T combine_real(T a, T b, int32_t op) {
  switch (op) {
    case SPARKGAP_PROD:
      return a * b;
    case SPARKGAP_MIN:
      return std::isnan(a) || a < b ? a : b;
    case SPARKGAP_MAX:
      return std::isnan(a) || a > b ? a : b;
    default:
      return a + b;
  }
}

template <class T>
T combine_integer(T a, T b, int32_t op) {
  switch (op) {
    case SPARKGAP_PROD:
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    case SPARKGAP_MIN:
      return a < b ? a : b;
    case SPARKGAP_MAX:
      return a > b ? a : b;
    default:
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
}

// decode and encode go between what is stored and what is computed in.
template <class Stored, class Decode, class Combine, class Divide, class Encode>
void reduce_elements(void* out, const std::vector<const void*>& ins, size_t count, int32_t op, Decode decode,
                     Combine combine, Divide divide, Encode encode) {
  const auto n = static_cast<int64_t>(ins.size());
  for (size_t i = 0; i < count; ++i) {
    auto value = decode(element<Stored>(ins[0], i));
    for (size_t k = 1; k < ins.size(); ++k) value = combine(value, decode(element<Stored>(ins[k], i)), op);
    if (op == SPARKGAP_AVG) value = divide(value, n);
    set_element<Stored>(out, i, encode(value));
  }
}

template <class T>
void reduce_reals(void* out, const std::vector<const void*>& ins, size_t count, int32_t op) {
  const auto same = [](T value) { return value; };
  const auto divide = [](T sum, int64_t n) { return sum / static_cast<T>(n); };
  reduce_elements<T>(out, ins, count, op, same, combine_real<T>, divide, same);
}

template <class T>
void reduce_integers(void* out, const std::vector<const void*>& ins, size_t count, int32_t op) {
  const auto same = [](T value) { return value; };
  const auto divide = [](T sum, int64_t n) { return static_cast<T>(static_cast<int64_t>(sum) / n); };
  reduce_elements<T>(out, ins, count, op, same, combine_integer<T>, divide, same);
}

void reduce_16_bit(void* out, const std::vector<const void*>& ins, size_t count, int32_t op, float (*decode)(uint16_t),
                   uint16_t (*encode)(float)) {
  const auto divide = [](float sum, int64_t n) { return sum / static_cast<float>(n); };
  reduce_elements<uint16_t>(out, ins, count, op, decode, combine_real<float>, divide, encode);
}

bool is_nan(const void* array, size_t index, int32_t type) {
  switch (type) {
    case SPARKGAP_FLOAT32:
      return std::isnan(element<float>(array, index));
    case SPARKGAP_FLOAT64:
      return std::isnan(element<double>(array, index));
    case SPARKGAP_FLOAT16:
      return std::isnan(decode_half(element<uint16_t>(array, index)));
    case SPARKGAP_BFLOAT16:
      return std::isnan(decode_bfloat16(element<uint16_t>(array, index)));
    default:
      return false;
  }
}

template <class T>
T random_real(std::mt19937_64& random) {
  constexpr T kSpecial[] = {T(0),
                            T(-0.0),
                            std::numeric_limits<T>::quiet_NaN(),
                            std::numeric_limits<T>::infinity(),
                            -std::numeric_limits<T>::infinity(),
                            std::numeric_limits<T>::denorm_min(),
                            -std::numeric_limits<T>::min() / 2,
                            std::numeric_limits<T>::max(),
                            std::numeric_limits<T>::lowest()};
  if (random() % 8 == 0) return kSpecial[random() % (sizeof kSpecial / sizeof kSpecial[0])];
  const T fraction = static_cast<T>(static_cast<int64_t>(random()));
  return std::ldexp(fraction, static_cast<int>(random() % 16) - 66);
}

}  // namespace

size_t bytes_of(int32_t type) {
  constexpr size_t kBytes[SPARKGAP_TYPES] = {4, 8, 2, 2, 1, 1, 4, 8};
  return kBytes[type];
}

std::vector<char> random_elements(int32_t type, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(type));
  std::vector<char> elements(count * bytes_of(type));
  for (size_t i = 0; i < count; ++i) {
    switch (type) {
      case SPARKGAP_FLOAT32:
        set_element(elements.data(), i, random_real<float>(random));
        break;
      case SPARKGAP_FLOAT64:
        set_element(elements.data(), i, random_real<double>(random));
        break;
      case SPARKGAP_FLOAT16:
        // One in four is any bit pattern; the others are of about the same size, so that sums have to round.
        set_element(elements.data(), i,
                    random() % 4 == 0 ? static_cast<uint16_t>(random()) : encode_half(random_real<float>(random)));
        break;
      case SPARKGAP_BFLOAT16:
        set_element(elements.data(), i,
                    random() % 4 == 0 ? static_cast<uint16_t>(random()) : encode_bfloat16(random_real<float>(random)));
        break;
      default: {
        const uint64_t bits = random();
        std::memcpy(elements.data() + i * bytes_of(type), &bits, bytes_of(type));
      }
    }
  }
  return elements;
}

std::vector<char> small_whole_elements(int32_t type, size_t count, int pe) {
  std::vector<char> elements(count * bytes_of(type));
  for (size_t i = 0; i < count; ++i) {
    const int value = static_cast<int>(i % 3) + 1 + 2 * pe;
    switch (type) {
      case SPARKGAP_FLOAT32:
        set_element(elements.data(), i, static_cast<float>(value));
        break;
      case SPARKGAP_FLOAT64:
        set_element(elements.data(), i, static_cast<double>(value));
        break;
      case SPARKGAP_FLOAT16:
        set_element(elements.data(), i, encode_half(static_cast<float>(value)));
        break;
      case SPARKGAP_BFLOAT16:
        set_element(elements.data(), i, encode_bfloat16(static_cast<float>(value)));
        break;
      default:
        // The lowest bytes are the whole of it.
        std::memcpy(elements.data() + i * bytes_of(type), &value, std::min(bytes_of(type), sizeof value));
    }
  }
  return elements;
}

void reference_reduce(void* out, const std::vector<const void*>& ins, size_t count, int32_t type, int32_t op) {
  switch (type) {
    case SPARKGAP_FLOAT32:
      return reduce_reals<float>(out, ins, count, op);
    case SPARKGAP_FLOAT64:
      return reduce_reals<double>(out, ins, count, op);
    case SPARKGAP_FLOAT16:
      return reduce_16_bit(out, ins, count, op, decode_half, encode_half);
    case SPARKGAP_BFLOAT16:
      return reduce_16_bit(out, ins, count, op, decode_bfloat16, encode_bfloat16);
    case SPARKGAP_INT8:
      return reduce_integers<int8_t>(out, ins, count, op);
    case SPARKGAP_UINT8:
      return reduce_integers<uint8_t>(out, ins, count, op);
    case SPARKGAP_INT32:
      return reduce_integers<int32_t>(out, ins, count, op);
    default:
      return reduce_integers<int64_t>(out, ins, count, op);
  }
}

size_t first_difference(const void* a, const void* b, size_t count, int32_t type) {
  const size_t bytes = bytes_of(type);
  if (same_bytes(a, b, count * bytes)) return count;
  for (size_t i = 0; i < count; ++i) {
    const char* left = static_cast<const char*>(a) + i * bytes;
    const char* right = static_cast<const char*>(b) + i * bytes;
    if (std::memcmp(left, right, bytes) != 0 && !(is_nan(a, i, type) && is_nan(b, i, type))) return i;
  }
  return count;
}

std::string show_element(const void* array, size_t index, int32_t type) {
  uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const char*>(array) + index * bytes_of(type), bytes_of(type));
  char text[100];
  switch (type) {
    case SPARKGAP_FLOAT32:
      std::snprintf(text, sizeof text, "%.9g (%#lx)", element<float>(array, index), bits);
      break;
    case SPARKGAP_FLOAT64:
      std::snprintf(text, sizeof text, "%.17g (%#lx)", element<double>(array, index), bits);
      break;
    case SPARKGAP_FLOAT16:
      std::snprintf(text, sizeof text, "%.9g (%#lx)", decode_half(static_cast<uint16_t>(bits)), bits);
      break;
    case SPARKGAP_BFLOAT16:
      std::snprintf(text, sizeof text, "%.9g (%#lx)", decode_bfloat16(static_cast<uint16_t>(bits)), bits);
      break;
    default:
      std::snprintf(text, sizeof text, "%#lx", bits);
  }
  return text;
}

}  // namespace sparkgap::test
