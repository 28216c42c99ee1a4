#include "idgen/concat.hpp"

#include <string_view>
#include <utility>

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

}  // namespace idgen
