#include <algorithm>
#include <cstring>

#include "idgen/text.hpp"

namespace idgen {
namespace {

// Length of the UTF-8 character that text begins with, 0 if it begins with none.
std::size_t utf8_length(std::string_view text) noexcept {
  const auto byte = [text](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Longer than needed, a surrogate, or beyond the last character.
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) || (first == 0xF0 && second < 0x90) ||
      (first == 0xF4 && second >= 0x90))
    return 0;
  return length;
}

}  // namespace

std::size_t copy_text(std::string_view text, char* out, std::size_t size) noexcept {
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (used + std::max<std::size_t>(length, 1) > size - 1) break;  // cut between characters
    if (length == 0) {
      out[used++] = '?';
    } else {
      std::memcpy(out + used, text.data(), length);
      used += length;
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  out[used] = '\0';
  return used;
}

std::string_view character_at(std::string_view text, std::size_t position) {
  std::size_t end = position + 1;
  while (end < text.size() && end < position + 4 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return text.substr(position, end - position);
}

}  // namespace idgen
