// What the terminal can show: colours and width.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace idgen_tool {

// ANSI "select graphic rendition" parameters.
namespace ink {
inline constexpr const char* plain = "";
inline constexpr const char* bold = "1";
inline constexpr const char* dim = "2";
inline constexpr const char* red = "31";
inline constexpr const char* green = "32";
inline constexpr const char* yellow = "33";
inline constexpr const char* blue = "94";
inline constexpr const char* magenta = "35";
inline constexpr const char* cyan = "36";
inline constexpr const char* pink = "95";
}  // namespace ink

class Terminal {
 public:
  // Colours only on a terminal that is not "dumb", and not if NO_COLOR is set to anything but "" (no-color.org).
  explicit Terminal(std::FILE* stream);

  bool is_terminal() const noexcept { return terminal_; }
  std::size_t width() const noexcept { return width_; }  // columns; unlimited when not a terminal
  std::string paint(const char* ink, std::string_view text) const;

 private:
  bool terminal_;
  bool colors_;
  std::size_t width_;
};

}  // namespace idgen_tool
