#include "shared/json.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace idgen_tool {
namespace {

constexpr std::uint64_t kMaxSafe = (std::uint64_t{1} << 53) - 1;

std::string quoted(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

void JsonObject::name(std::string_view name) {
  if (body_.size() > 1) body_ += ", ";
  body_ += quoted(name) + ": ";
}

JsonObject& JsonObject::text(std::string_view member, std::string_view value) {
  name(member);
  body_ += quoted(value);
  return *this;
}

JsonObject& JsonObject::number(std::string_view member, std::uint64_t value) {
  name(member);
  body_ += value > kMaxSafe ? quoted(std::to_string(value)) : std::to_string(value);
  return *this;
}

JsonObject& JsonObject::signed_number(std::string_view member, std::int64_t value) {
  name(member);
  const std::uint64_t magnitude = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  body_ += magnitude > kMaxSafe ? quoted(std::to_string(value)) : std::to_string(value);
  return *this;
}

JsonObject& JsonObject::real(std::string_view member, double value) {
  if (!std::isfinite(value)) return null(member);
  name(member);
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  body_.append(digits, end);
  return *this;
}

JsonObject& JsonObject::boolean(std::string_view member, bool value) {
  name(member);
  body_ += value ? "true" : "false";
  return *this;
}

JsonObject& JsonObject::null(std::string_view member) {
  name(member);
  body_ += "null";
  return *this;
}

}  // namespace idgen_tool
