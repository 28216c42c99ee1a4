// The positional number systems that ids are written in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "idgen/text.hpp"

namespace idgen {

inline constexpr std::uint8_t kForeign = 0xFF;

struct System {
  std::string_view name;
  std::string_view alphabet;  // in ASCII order, so that texts of equal length sort like numbers
  std::size_t min_width;
  std::size_t max_width;
  std::size_t wide_width;                // of ids of 16 bytes
  std::string_view allowed;              // for messages
  std::array<std::uint8_t, 256> values;  // of characters; kForeign: no digit

  std::uint8_t value_of(char c) const noexcept { return values[static_cast<unsigned char>(c)]; }
};

// Throws Error{argument}.
const System& system_of(Encoding encoding);

}  // namespace idgen
