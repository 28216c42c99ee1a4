// A number that a server keeps as text.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "idgen/concat.hpp"
#include "store/grant_rules.hpp"

namespace idgen {

inline bool reads_number(std::string_view text, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number <= kLargestNumber;
}

// Throws Error{store_damaged} for anything else, which must not be read as 0. null: NULL.
inline std::uint64_t stored_number(const std::string& shown, const char* text) {
  std::uint64_t number = 0;
  if (text != nullptr && reads_number(text, number)) return number;
  throw Error(Status::store_damaged, concat({shown, " holds ", (text == nullptr ? "NULL" : in_quotes(text)),
                                             " where a number from 0 to 2^63 - 1 belongs. Set it right by hand, above "
                                             "the highest id in use"}));
}

}  // namespace idgen
