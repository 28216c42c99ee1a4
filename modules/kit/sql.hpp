// What the stores in SQL databases have in common.
#pragma once

#include <charconv>
#include <string>

#include "store/grant_rules.hpp"

namespace idgen::module {

inline constexpr const char* kHowToCreate = "Make it with `idgen segment create`, or set store_create = true";

// A number from the database, as text. Throws Error{store_damaged} for anything else, which must not be read as 0.
inline std::uint64_t stored_number(const std::string& shown, const char* text) {
  std::uint64_t number = 0;
  const std::string_view value = text == nullptr ? "" : text;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || number > kLargestNumber) {
    throw Error(Status::store_damaged,
                shown + " holds " + (text == nullptr ? "NULL" : in_quotes(value)) +
                    " where a number from 0 to 2^63 - 1 belongs. Set it right by hand, above the "
                    "highest id in use");
  }
  return number;
}

}  // namespace idgen::module
