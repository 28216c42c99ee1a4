// Enough JSON for samples: objects and arrays of numbers and plain text, written as it is built.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

class Json {
 public:
  Json& open(std::string_view key = {}) { return begin(key, '{', '}'); }
  Json& open_array(std::string_view key = {}) { return begin(key, '[', ']'); }

  Json& close() {
    text_ += ends_.back();
    ends_.pop_back();
    first_ = false;
    return *this;
  }

  Json& number(std::string_view key, double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.6g", value);
    name(key);
    text_ += digits;
    return *this;
  }

  // Our own names: nothing in them needs escaping.
  Json& text(std::string_view key, std::string_view value) {
    name(key);
    text_ += '"';
    text_ += value;
    text_ += '"';
    return *this;
  }

  Json& numbers(std::string_view key, const std::vector<double>& values) {
    open_array(key);
    for (const double value : values) number({}, value);
    return close();
  }

  void print() const { std::printf("%s\n", text_.c_str()); }

 private:
  Json& begin(std::string_view key, char from, char to) {
    name(key);
    text_ += from;
    ends_ += to;
    first_ = true;
    return *this;
  }

  void name(std::string_view key) {
    if (!first_) text_ += ", ";
    first_ = false;
    if (key.empty()) return;
    text_ += '"';
    text_ += key;
    text_ += "\": ";
  }

  std::string text_;
  std::string ends_;
  bool first_ = true;
};

}  // namespace bench
