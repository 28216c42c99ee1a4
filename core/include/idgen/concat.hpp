// a + b of texts, as functions of the library and not as templates of the standard library.
//
// Messages are put together with + in several hundred places. Since std::string can be constexpr (C++20), compilers
// instantiate its operators anew in each file, although the standard library has them compiled, and inline them in each
// place: that was an eighth of libidgen.so. Code in namespace idgen prefers these, because they are no templates.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace idgen {

// A message in parts: concat({"a width of ", quote(text), "; allowed are 1 to ", most}). A part is two words on the
// caller's stack. a + b makes a string for each, and code that destroys it.
class Part {
 public:
  // NOLINTBEGIN(google-explicit-constructor): written between braces
  constexpr Part(std::string_view text)
      : text_(text.data() != nullptr ? text.data() : ""), value_(static_cast<std::int64_t>(text.size())) {}
  constexpr Part(const char* text) : Part(std::string_view(text)) {}
  Part(const std::string& text) : Part(std::string_view(text)) {}
  template <std::integral Number>
  constexpr Part(Number number)
      : text_(std::unsigned_integral<Number> ? kUnsigned : nullptr), value_(static_cast<std::int64_t>(number)) {}
  // NOLINTEND(google-explicit-constructor)

 private:
  friend Part quote(std::string_view text);
  friend std::string concat(std::initializer_list<Part> parts);

  static constexpr char kUnsigned[1] = {};  // its address stands for a number without a sign

  const char* text_;    // null: a number with a sign
  std::int64_t value_;  // of the text, its size; if it is to be quoted, ~size
};
// As in_quotes().
inline Part quote(std::string_view text) {
  Part part(text);
  part.value_ = ~part.value_;
  return part;
}
std::string concat(std::initializer_list<Part> parts);

std::string operator+(const std::string& a, const std::string& b);
std::string operator+(const std::string& a, std::string&& b);
std::string operator+(const std::string& a, const char* b);
std::string operator+(std::string&& a, const std::string& b);
std::string operator+(std::string&& a, std::string&& b);
std::string operator+(std::string&& a, const char* b);
std::string operator+(const char* a, const std::string& b);
std::string operator+(const char* a, std::string&& b);

}  // namespace idgen
