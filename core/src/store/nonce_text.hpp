// An owner's nonce as stores hold it: 32 hexadecimal digits, for people to compare.
#pragma once

#include <charconv>
#include <optional>
#include <string>

#include "idgen/store.hpp"

namespace idgen {

inline std::string hex_of(const Nonce& nonce) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const std::uint8_t byte : nonce) out += {kHex[byte >> 4], kHex[byte & 15]};
  return out;
}

// Nothing for what hex_of() does not write.
inline std::optional<Nonce> nonce_of(const std::string& hex) {
  Nonce nonce{};
  if (hex.size() != 2 * nonce.size()) return std::nullopt;
  for (std::size_t i = 0; i < nonce.size(); ++i) {
    const auto [end, error] = std::from_chars(&hex[2 * i], &hex[2 * i] + 2, nonce[i], 16);
    if (error != std::errc{} || end != &hex[2 * i] + 2) return std::nullopt;
  }
  return nonce;
}

}  // namespace idgen
