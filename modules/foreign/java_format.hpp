// A pattern of serials as key_producer has it: a java.text.SimpleDateFormat for what is in front of the number, whose
// letters are those of our patterns, and zeros for the number.
// https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/text/SimpleDateFormat.html
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "idgen/pattern.hpp"
#include "idgen/status.hpp"
#include "idgen/text.hpp"

namespace idgen::module {

inline bool is_format_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// With each literal in quotes if it needs them, and otherwise without.
class DateFormat {
 public:
  void literal(char c) { literal_ += c; }
  void letter(char c) {
    end_literal();
    text_ += c;
  }
  std::string text() {
    end_literal();
    return std::move(text_);
  }

 private:
  // A quote is written twice, in quotes and outside of them.
  void end_literal() {
    const std::string_view around = std::ranges::any_of(literal_, is_format_letter) ? "'" : "";
    text_ += around;
    for (const char c : literal_) text_.append(c == '\'' ? 2 : 1, c);
    text_ += around;
    literal_.clear();
  }

  std::string text_, literal_;
};

// Calls literal(c) or letter(c) for each character that a format writes; letter(c) for those that stand for a part of
// the date.
template <class Literal, class Letter>
void read_date_format(std::string_view format, Literal&& literal, Letter&& letter) {
  bool is_quoted = false;
  for (std::size_t i = 0; i < format.size(); ++i) {
    const char c = format[i];
    if (c == '\'' && i + 1 < format.size() && format[i + 1] == '\'') {
      literal(format[++i]);
    } else if (c == '\'') {
      is_quoted = !is_quoted;
    } else if (is_quoted || !is_format_letter(c)) {
      literal(c);
    } else {
      letter(c);
    }
  }
}

// The same format, quoted as DateFormat does.
inline std::string canonical_date_format(std::string_view format) {
  DateFormat out;
  read_date_format(
      format, [&](char c) { out.literal(c); }, [&](char c) { out.letter(c); });
  return out.text();
}

// What stands in front of its first letter, which digits replace.
inline std::string leading_literal(std::string_view format) {
  std::string out;
  bool has_letter = false;
  const auto add = [&](char c) {
    if (!has_letter) out += c;
  };
  read_date_format(format, add, [&](char) { has_letter = true; });
  return out;
}

// What its letters write begins with a digit. Not the names of months, for example.
inline bool writes_digits(std::string_view format) {
  bool are_digits = format.find("MMM") == format.npos;
  const auto look = [&](char c) {
    are_digits = are_digits && std::string_view("yYuMwWDdFHkKhmsS").find(c) != std::string_view::npos;
  };
  read_date_format(
      format, [](char) {}, look);
  return are_digits;
}

// False: whatever the dates and the numbers are, no text of the one format is one of the other.
inline bool may_write_alike(std::string_view one, std::string_view other) {
  if (!writes_digits(one) || !writes_digits(other)) return true;
  std::string shorter = leading_literal(one), longer = leading_literal(other);
  if (shorter.size() > longer.size()) std::swap(shorter, longer);
  if (!longer.starts_with(shorter)) return false;
  return shorter.size() == longer.size() || (longer[shorter.size()] >= '0' && longer[shorter.size()] <= '9');
}

struct JavaFormats {
  std::string date, number;
};

// Throws Error{unsupported} for a pattern that these cannot say.
inline JavaFormats java_formats(const TextPattern& pattern) {
  const std::string_view text = pattern.text();
  DateFormat date;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '{' || text[i + 1] == '{') {  // a literal; a brace is there twice
      date.literal(c);
      i += c == '{' || c == '}' ? 1 : 0;
      continue;
    }
    const std::size_t end = text.find('}', i);
    const std::string_view inside = text.substr(i + 1, end - i - 1);
    i = end;
    if (inside.find_first_not_of("yMdDHms-/.:_ T") == inside.npos) {
      for (const char each : inside) is_format_letter(each) && each != 'T' ? date.letter(each) : date.literal(each);
      continue;
    }
    const bool has_name = inside.starts_with("decimal:");
    if (end + 1 < text.size() || !(has_name || inside.starts_with('0'))) break;
    const std::string_view width = inside.substr(0, inside.size() - (inside.ends_with('+') ? 1 : 0));
    const std::size_t digits = has_name ? std::stoul(std::string(width.substr(8))) : width.size();
    return {date.text(), std::string(digits, '0')};
  }
  throw Error(
      Status::unsupported,
      concat({"pattern ", quote(text),
              ": a row of key_producer has a date, with literals if wanted, and behind it the number in decimal "
              "digits with a width, such as \"SO{yyyyMMdd}{000000}\"; nothing behind the number, and no check"}));
}

}  // namespace idgen::module
