#include "idgen/concat.hpp"

#include <string_view>
#include <utility>

#include "idgen/text.hpp"

namespace idgen {
namespace {

std::string joined(std::string_view a, std::string_view b) {
  std::string out;
  out.reserve(a.size() + b.size());
  out.append(a).append(b);
  return out;
}

}  // namespace

std::string operator+(const std::string& a, const std::string& b) { return joined(a, b); }
std::string operator+(const std::string& a, std::string&& b) { return joined(a, b); }
std::string operator+(const std::string& a, const char* b) { return joined(a, b); }
std::string operator+(std::string&& a, const std::string& b) { return std::move(a.append(b)); }
std::string operator+(std::string&& a, std::string&& b) { return std::move(a.append(b)); }
std::string operator+(std::string&& a, const char* b) { return std::move(a.append(b)); }
std::string operator+(const char* a, const std::string& b) { return joined(a, b); }
std::string operator+(const char* a, std::string&& b) { return joined(a, b); }

std::string concat(std::initializer_list<Part> parts) {
  std::string out;
  for (const Part& part : parts) {
    if (part.text_ == nullptr) {
      out += std::to_string(part.value_);
    } else if (part.text_ == Part::kUnsigned) {
      out += std::to_string(static_cast<std::uint64_t>(part.value_));
    } else if (part.value_ < 0) {
      out += in_quotes({part.text_, static_cast<std::size_t>(~part.value_)});
    } else {
      out.append(part.text_, static_cast<std::size_t>(part.value_));
    }
  }
  return out;
}

}  // namespace idgen
