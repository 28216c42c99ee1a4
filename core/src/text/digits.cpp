// A digit is a remainder by a constant, of which the compiler makes a multiplication, but each waits for the one
// before. So a number is first cut into parts of three digits, which wait for nothing but the cuts.
#include <charconv>
#include <cstring>

#include "idgen/text.hpp"
#include "text/alphabets.hpp"

namespace idgen {
namespace {

constexpr std::uint64_t power(std::uint64_t base, unsigned exponent) {
  return exponent == 0 ? 1 : base * power(base, exponent - 1);
}

// Exactly `count` digits of a number that has no more.
template <unsigned count, unsigned base>
inline void put(std::uint64_t number, const char* alphabet, char* out) noexcept {
  if constexpr (count > 3) {
    constexpr unsigned low = count > 6 ? (count / 2 + 2) / 3 * 3 : 3;
    put<count - low, base>(number / power(base, low), alphabet, out);
    put<low, base>(number % power(base, low), alphabet, out + (count - low));
  } else {
    auto rest = static_cast<std::uint32_t>(number);
    for (unsigned i = count; i-- > 0; rest /= base) out[i] = alphabet[rest % base];
  }
}

template <unsigned count, unsigned bits>
inline void put_bits(std::uint64_t number, const char* alphabet, char* out) noexcept {
  for (unsigned i = 0; i < count; ++i) out[i] = alphabet[number >> bits * (count - 1 - i) & ((1u << bits) - 1)];
}

// 128 bits are cut into three parts, of as many digits as a division of 64 bits allows but for the first.
template <unsigned base>
struct Wide {
  static constexpr unsigned kPart = base == 10 ? 19 : 10;
  static constexpr unsigned kDigits = base == 10 ? 39 : 22;

  [[gnu::noinline]] static void put_part(std::uint64_t part, const char* alphabet, char* out) noexcept {
    if constexpr (base == 10) {  // nobody writes many of these: small
      for (unsigned i = kPart; i-- > 0; part /= base) out[i] = alphabet[part % base];
    } else {
      put<kPart, base>(part, alphabet, out);
    }
  }
  [[gnu::noinline]] static std::size_t put_all(Id128 number, const char* alphabet, char* out) noexcept {
    constexpr std::uint64_t cut = power(base, kPart);
    const Id128 above = number / cut;
    const auto high = static_cast<std::uint64_t>(above / cut);
    put<kDigits - 2 * kPart, base>(high, alphabet, out);
    put_part(static_cast<std::uint64_t>(above - Id128{high} * cut), alphabet, out + (kDigits - 2 * kPart));
    put_part(static_cast<std::uint64_t>(number - above * cut), alphabet, out + (kDigits - kPart));
    return kDigits;
  }
};

}  // namespace

std::size_t put_digits(std::uint64_t id, Encoding encoding, char* out) noexcept {
  switch (encoding) {
    case Encoding::decimal:
      return static_cast<std::size_t>(std::to_chars(out, out + 20, id).ptr - out);
    case Encoding::hex:
      put_bits<16, 4>(id, kHexDigits, out);
      return 16;
    case Encoding::crockford:
      put_bits<13, 5>(id, kCrockfordDigits, out);
      return 13;
    case Encoding::base58:
      put<11, 58>(id, kBase58Digits, out);
      return 11;
    case Encoding::base62:
      put<11, 62>(id, kBase62Digits, out);
      return 11;
  }
  return 0;
}

std::size_t put_digits(Id128 id, Encoding encoding, char* out) noexcept {
  const auto high = static_cast<std::uint64_t>(id >> 64), low = static_cast<std::uint64_t>(id);
  switch (encoding) {
    case Encoding::decimal:
      return Wide<10>::put_all(id, "0123456789", out);
    case Encoding::hex:
      put_bits<16, 4>(high, kHexDigits, out);
      put_bits<16, 4>(low, kHexDigits, out + 16);
      return 32;
    case Encoding::crockford:  // 2, 12 and 12 digits: 10, 60 and 60 bits
      put_bits<2, 5>(high >> 56, kCrockfordDigits, out);
      put_bits<12, 5>(high << 4 | low >> 60, kCrockfordDigits, out + 2);
      put_bits<12, 5>(low, kCrockfordDigits, out + 14);
      return 26;
    case Encoding::base58:
      return Wide<58>::put_all(id, kBase58Digits, out);
    case Encoding::base62:
      return Wide<62>::put_all(id, kBase62Digits, out);
  }
  return 0;
}

}  // namespace idgen
