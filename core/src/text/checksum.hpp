// Check characters.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "idgen/pattern.hpp"

namespace idgen {

// Of the digits of number and date, from left to right.
class TextPattern::Checksum {
 public:
  void add(unsigned value) noexcept { values_[count_++] = static_cast<std::uint8_t>(value); }
  // The values of the check's digits.
  std::size_t digits(Check check, unsigned base, std::uint8_t* out) const noexcept {
    const std::span<const std::uint8_t> values(values_.data(), count_);
    if (check == Check::luhn) {  // mod N: https://en.wikipedia.org/wiki/Luhn_mod_N_algorithm
      unsigned sum = 0;
      for (std::size_t i = values.size(); i > 0; i -= std::min<std::size_t>(i, 2)) {
        const unsigned doubled = values[i - 1] * 2u;
        // The sum of its two digits. A branch would be mispredicted every other time.
        sum += doubled - (base - 1) * static_cast<unsigned>(doubled >= base);
        if (i > 1) sum += values[i - 2];
      }
      out[0] = static_cast<std::uint8_t>((base - sum % base) % base);
      return 1;
    }
    if (check == Check::mod11_10) {  // ISO/IEC 7064, the hybrid system MOD 11,10
      unsigned product = 10;
      for (const std::uint8_t value : values) {
        const unsigned sum = (product + value) % 10;
        product = (sum == 0 ? 10 : sum) * 2 % 11;
      }
      out[0] = static_cast<std::uint8_t>((11 - product) % 10);
      return 1;
    }
    unsigned rest = 0;  // ISO/IEC 7064, the pure system MOD 97-10
    for (const std::uint8_t value : values) rest = (rest * 10 + value) % 97;
    const unsigned two = 98 - rest * 100 % 97;
    out[0] = static_cast<std::uint8_t>(two / 10);
    out[1] = static_cast<std::uint8_t>(two % 10);
    return 2;
  }

 private:
  std::array<std::uint8_t, kMostText> values_;  // the first count_
  std::size_t count_ = 0;
};

}  // namespace idgen
