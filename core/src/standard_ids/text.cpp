// Standard ids as text, and what their bits say. Pure.
#include "idgen/text.hpp"

#include <algorithm>

#include "idgen/standard.hpp"
#include "idgen/status.hpp"

namespace idgen {
namespace {

constexpr std::size_t kUuidText = 36, kUlidText = 26, kObjectIdText = 24, kBareUuidText = 32;
constexpr std::array<std::size_t, 4> kHyphens{8, 13, 18, 23};
// 100 ns since the Gregorian reform, 1582-10-15, where UUIDs of versions 1 and 6 begin to count.
constexpr std::int64_t kGregorianToUnix100Ns = 0x01B21DD213814000;

std::uint64_t number(const StandardId& id, std::size_t from, std::size_t bytes) noexcept {
  std::uint64_t value = 0;
  for (std::size_t i = from; i < from + bytes; ++i) value = value << 8 | id[i];
  return value;
}

bool is_letter_or_digit(char c) noexcept {
  const char lower = static_cast<char>(c | 0x20);
  return (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'z');
}

int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

Id128 wide(const StandardId& id) noexcept { return Id128{number(id, 0, 8)} << 64 | number(id, 8, 8); }

StandardId bytes_of(Id128 value) noexcept {
  StandardId id;
  for (std::size_t i = 16; i-- > 0; value >>= 8) id[i] = static_cast<std::uint8_t>(value);
  return id;
}

std::optional<std::int64_t> time_of_uuid(const StandardId& id, unsigned version) noexcept {
  std::uint64_t since_1582;
  switch (version) {
    case 1:
      since_1582 = (number(id, 6, 2) & 0xFFF) << 48 | number(id, 4, 2) << 32 | number(id, 0, 4);
      break;
    case 6:
      since_1582 = number(id, 0, 6) << 12 | (number(id, 6, 2) & 0xFFF);
      break;
    case 7:
      return static_cast<std::int64_t>(number(id, 0, 6));
    default:
      return std::nullopt;
  }
  const std::int64_t unix_100_ns = static_cast<std::int64_t>(since_1582) - kGregorianToUnix100Ns;
  return unix_100_ns / 10'000 - (unix_100_ns % 10'000 < 0);
}

Standard of_version(const StandardParts& parts) noexcept {
  if (!parts.is_rfc) return Standard::uuid;
  return parts.version == 4 ? Standard::uuid4 : parts.version == 7 ? Standard::uuid7 : Standard::uuid;
}

StandardParts decode_uuid(const StandardId& id) noexcept {
  StandardParts parts;
  parts.version = id[6] >> 4;
  parts.is_rfc = id[8] >> 6 == 0b10;
  if (parts.is_rfc) parts.unix_ms = time_of_uuid(id, parts.version);
  parts.standard = of_version(parts);
  return parts;
}

}  // namespace

StandardParts decode_standard(Standard standard, const StandardId& id) noexcept {
  if (standard == Standard::ulid) return {.standard = standard, .unix_ms = static_cast<std::int64_t>(number(id, 0, 6))};
  if (standard != Standard::object_id) return decode_uuid(id);
  return {.standard = standard,
          .unix_ms = static_cast<std::int64_t>(number(id, 0, 4)) * 1000,
          .process = number(id, 4, 5),
          .counter = number(id, 9, 3)};
}

std::size_t format_standard(Standard standard, const StandardId& id, char* out) noexcept {
  if (standard == Standard::ulid) return put_digits(wide(id), Encoding::crockford, out);
  char digits[kBareUuidText];
  put_digits(wide(id), Encoding::hex, digits);
  if (standard == Standard::object_id) return std::copy_n(digits, kObjectIdText, out) - out;
  std::size_t from = 0, to = 0;
  for (const std::size_t hyphen : kHyphens) {
    while (to < hyphen) out[to++] = digits[from++];
    out[to++] = '-';
  }
  while (to < kUuidText) out[to++] = digits[from++];
  return to;
}

ParsedStandard parse_standard(std::string_view text) {
  const auto fail = [text](const std::string& reason) {
    throw Error(Status::text, in_quotes(text) + " is not a UUID, a ULID or an ObjectId: " + reason);
  };
  const auto fail_at = [&](std::size_t at, const std::string& reason) {
    fail(in_quotes(character_at(text, at)) + " at position " + std::to_string(at) + " is not " + reason);
  };
  // First, so that positions and lengths are the same in every language.
  for (std::size_t at = 0; at < text.size(); ++at)
    if (!is_letter_or_digit(text[at]) && text[at] != '-') fail_at(at, "a letter, a digit or a hyphen");
  if (text.size() == kUlidText) return {Standard::ulid, bytes_of(parse_wide_id(text, Encoding::crockford).value)};
  if (text.size() != kUuidText && text.size() != kBareUuidText && text.size() != kObjectIdText)
    fail("it has " + std::to_string(text.size()) +
         " characters where a UUID has 36 (32 without its hyphens), a ULID 26, an ObjectId 24");
  ParsedStandard parsed;
  std::size_t digits = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.size() == kUuidText && std::ranges::find(kHyphens, at) != kHyphens.end()) {
      if (text[at] != '-') fail_at(at, "the hyphen of a UUID");
      continue;
    }
    const int value = hex_value(text[at]);
    if (value < 0) fail_at(at, "a digit; allowed are 0-9, a-f and A-F");
    parsed.id[digits / 2] = static_cast<std::uint8_t>(parsed.id[digits / 2] << 4 | value);
    ++digits;
  }
  parsed.standard = text.size() == kObjectIdText ? Standard::object_id : decode_uuid(parsed.id).standard;
  return parsed;
}

}  // namespace idgen
